import { json, route } from '#lib/server/route.ts'
import { serverStatus } from '#lib/server/servers.ts'

export const GET = route<{ name: string }>({}, async ({ request, params, services }) =>
  json(await serverStatus(services.servers.client(params.name), request.signal)),
)

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
