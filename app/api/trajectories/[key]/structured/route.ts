import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { structuredOutput, structuredRequestSchema } from '#lib/server/runs/structured.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
    json(
      await structuredOutput(params.key, await readJson(request, structuredRequestSchema), services, request.signal),
    ),
  ),
})
