import { methods, route } from '#lib/server/http/route.ts'
import { generationConfig } from '#lib/server/servers/tokenizers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => generationConfig(request, services.tokenizers)),
})
