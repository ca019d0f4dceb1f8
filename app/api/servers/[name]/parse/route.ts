import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { serverParsing, serverParsingRequestSchema } from '#lib/server/servers/server-parsing.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ name: string }>({ changes: 'application/json' }, async ({ request, params, services }) => {
    const client = services.servers.client(params.name)
    return json(await serverParsing(client, await readJson(request, serverParsingRequestSchema), request.signal))
  }),
})
