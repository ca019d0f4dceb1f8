import { json, methods, readLargeJson, route } from '#lib/server/http/route.ts'
import { previewPrompt, previewRequestSchema } from '#lib/server/runs/prompt-preview.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(await previewPrompt(await readLargeJson(request, previewRequestSchema), services, request.signal)),
  ),
})
