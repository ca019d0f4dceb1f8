import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { mcpServerInputSchema } from '#lib/server/servers/mcp-servers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json({ servers: services.mcpServers.list() })),
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(services.mcpServers.create(await readJson(request, mcpServerInputSchema)), 201),
  ),
})
