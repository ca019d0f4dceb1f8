import { openApi } from '#lib/server/openapi.ts'
import { json, route } from '#lib/server/route.ts'

export const GET = route({}, ({ services }) => json(openApi(services.version)))

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
