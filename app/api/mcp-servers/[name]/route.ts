import { methods, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  DELETE: route<{ name: string }>({ changes: 'application/json' }, ({ params, services }) => {
    services.mcpServers.remove(params.name)
    return new Response(null, { status: 204 })
  }),
})
