import { json, readJson, route } from '#lib/server/route.ts'
import { serverInputSchema } from '#lib/server/servers.ts'

export const PUT = route<{ name: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
  json(services.servers.replace(params.name, await readJson(request, serverInputSchema))),
)

export const DELETE = route<{ name: string }>({ changes: 'application/json' }, ({ params, services }) => {
  services.servers.remove(params.name)
  return new Response(null, { status: 204 })
})

export {
  methodNotAllowed as GET,
  methodNotAllowed as POST,
  methodNotAllowed as PATCH,
} from '#lib/server/method-not-allowed.ts'
