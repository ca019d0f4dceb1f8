import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { serverInputSchema } from '#lib/server/servers/servers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  PUT: route<{ name: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
    json(services.servers.replace(params.name, await readJson(request, serverInputSchema))),
  ),
  DELETE: route<{ name: string }>({ changes: 'application/json' }, ({ params, services }) => {
    services.servers.remove(params.name)
    return new Response(null, { status: 204 })
  }),
})
