import { methods, readJson, route } from '#lib/server/http/route.ts'
import { runResponse } from '#lib/server/http/run-response.ts'
import { continueRequestSchema, continueRollout } from '#lib/server/runs/rollouts.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) => {
    const body = await readJson(request, continueRequestSchema)
    return runResponse(
      await continueRollout(params.key, body, services, request.signal),
      body.detached === true,
      services,
      request.signal,
    )
  }),
})
