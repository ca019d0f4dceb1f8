import { continueRequestSchema, continueRollout } from '#lib/server/rollouts.ts'
import { readJson, route } from '#lib/server/route.ts'
import { runResponse } from '#lib/server/run-response.ts'

export const POST = route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) => {
  const body = await readJson(request, continueRequestSchema)
  return runResponse(
    await continueRollout(params.key, body, services, request.signal),
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
