import { json, route } from '#lib/server/route.ts'
import { importFile } from '#lib/server/trajectories.ts'

export const POST = route({ changes: 'application/octet-stream' }, async ({ request, services }) =>
  json(await importFile(request, services), 201),
)
