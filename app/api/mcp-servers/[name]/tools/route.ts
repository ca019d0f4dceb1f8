import { json, methods, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ name: string }>({}, async ({ request, params, services }) =>
    json({ tools: await services.mcpServers.tools(params.name, request.signal) }),
  ),
})
