import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { serverInputSchema } from '#lib/server/servers/servers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json({ servers: services.servers.list(), default: services.servers.defaultName })),
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(services.servers.create(await readJson(request, serverInputSchema)), 201),
  ),
})
