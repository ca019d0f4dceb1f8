import { compare, compareRequestSchema } from '#lib/server/compare.ts'
import { methods, readLargeJson, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    compare(await readLargeJson(request, compareRequestSchema), services, request.signal),
  ),
})
