import { capabilities } from '#lib/server/capabilities.ts'
import { json, route } from '#lib/server/route.ts'

export const GET = route({}, () => json(capabilities()))

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
