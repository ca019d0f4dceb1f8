import { previewPrompt, previewRequestSchema } from '#lib/server/prompt-preview.ts'
import { json, methods, readLargeJson, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(await previewPrompt(await readLargeJson(request, previewRequestSchema), services, request.signal)),
  ),
})
