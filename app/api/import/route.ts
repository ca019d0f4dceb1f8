import { json, methods, route } from '#lib/server/http/route.ts'
import { importFile } from '#lib/server/library/import.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/octet-stream' }, async ({ request, services }) =>
    json(await importFile(request, services), 201),
  ),
})
