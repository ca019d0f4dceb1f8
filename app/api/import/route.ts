import { json, route } from '#lib/server/route.ts'
import { importFile } from '#lib/server/trajectories.ts'

export const POST = route({ changes: 'application/octet-stream' }, async ({ request, services }) =>
  json(await importFile(request, services), 201),
)

export {
  methodNotAllowed as GET,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
