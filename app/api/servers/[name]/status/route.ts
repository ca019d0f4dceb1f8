import { json, methods, route } from '#lib/server/http/route.ts'
import { BUILT_IN, serverStatus } from '#lib/server/servers/servers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ name: string }>({}, async ({ request, params, services }) =>
    json(
      await serverStatus(services.servers.client(params.name), request.signal, () =>
        params.name === BUILT_IN ? services.localModel.downloads()[0] : undefined,
      ),
    ),
  ),
})
