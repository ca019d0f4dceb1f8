import { mcpServerInputSchema } from '#lib/server/mcp-servers.ts'
import { json, methods, readJson, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json({ servers: services.mcpServers.list() })),
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    json(services.mcpServers.create(await readJson(request, mcpServerInputSchema)), 201),
  ),
})
