import { methods, readJson, route } from '#lib/server/http/route.ts'
import { exportRequestSchema, exportSeveral } from '#lib/server/library/export.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    exportSeveral(await readJson(request, exportRequestSchema), services, request.signal),
  ),
})
