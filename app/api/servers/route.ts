import { json, readJson, route } from '#lib/server/route.ts'
import { serverInputSchema } from '#lib/server/servers.ts'

export const GET = route({}, ({ services }) =>
  json({ servers: services.servers.list(), default: services.servers.defaultName }),
)

export const POST = route({ changes: 'application/json' }, async ({ request, services }) =>
  json(services.servers.create(await readJson(request, serverInputSchema)), 201),
)

export {
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
