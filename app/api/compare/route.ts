import { compare, compareRequestSchema } from '#lib/server/compare/compare.ts'
import { methods, readLargeJson, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    compare(await readLargeJson(request, compareRequestSchema), services, request.signal),
  ),
})
