import { ndjson } from '#lib/server/ndjson.ts'
import { wholeNumber } from '#lib/server/query.ts'
import { route } from '#lib/server/route.ts'

export const GET = route<{ id: string }>({}, ({ request, params, services }) =>
  ndjson(services.runs.follow(params.id, wholeNumber(request, 'from', 0), request.signal)),
)

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
