import { retokenize, retokenizeRequestSchema } from '#lib/server/compare/retokenize.ts'
import { methods, readLargeJson, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    retokenize(await readLargeJson(request, retokenizeRequestSchema), services, request.signal),
  ),
})
