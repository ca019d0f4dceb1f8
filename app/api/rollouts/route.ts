import { rolloutRequestSchema, startRollout } from '#lib/server/rollouts.ts'
import { methods, readLargeJson, route } from '#lib/server/route.ts'
import { runResponse } from '#lib/server/run-response.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const body = await readLargeJson(request, rolloutRequestSchema)
    return runResponse(
      await startRollout(body, services, request.signal),
      body.detached === true,
      services,
      request.signal,
    )
  }),
})
