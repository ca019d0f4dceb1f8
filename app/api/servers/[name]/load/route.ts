import { json, methods, route } from '#lib/server/http/route.ts'
import { serverLoad } from '#lib/server/servers/servers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ name: string }>({}, async ({ request, params, services }) =>
    json(await serverLoad(services.servers.client(params.name), request.signal)),
  ),
})
