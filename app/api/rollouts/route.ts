import { rolloutRequestSchema, startRollout } from '#lib/server/rollouts.ts'
import { readJson, route } from '#lib/server/route.ts'
import { runResponse } from '#lib/server/run-response.ts'

export const POST = route({ changes: 'application/json' }, async ({ request, services }) => {
  const body = await readJson(request, rolloutRequestSchema)
  return runResponse(
    await startRollout(body, services, request.signal),
    body.detached === true,
    services,
    request.signal,
  )
})

export {
  methodNotAllowed as GET,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
