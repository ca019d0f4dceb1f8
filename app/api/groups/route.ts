import { json, methods, readLargeJson, route } from '#lib/server/http/route.ts'
import { groupRequestSchema, startGroup } from '#lib/server/runs/groups.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(await startGroup(await readLargeJson(request, groupRequestSchema), services, request.signal), 201),
  ),
})
