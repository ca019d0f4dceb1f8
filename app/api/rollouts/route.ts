import { methods, readLargeJson, route } from '#lib/server/http/route.ts'
import { runResponse } from '#lib/server/http/run-response.ts'
import { rolloutRequestSchema, startRollout } from '#lib/server/runs/rollouts.ts'

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
