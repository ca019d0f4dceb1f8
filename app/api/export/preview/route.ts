import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { exportPreview, exportPreviewRequestSchema } from '#lib/server/library/export.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(await exportPreview(await readJson(request, exportPreviewRequestSchema), services, request.signal)),
  ),
})
