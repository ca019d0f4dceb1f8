import { importFile } from '#lib/server/import.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/octet-stream' }, async ({ request, services }) =>
    json(await importFile(request, services), 201),
  ),
})
