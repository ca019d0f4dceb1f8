import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { addPromptLogprobs, promptLogprobsRequestSchema } from '#lib/server/runs/prompt-logprobs.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
    json(
      await addPromptLogprobs(
        params.key,
        await readJson(request, promptLogprobsRequestSchema),
        services,
        request.signal,
      ),
    ),
  ),
})
