import { methods, route } from '#lib/server/route.ts'
import { generationConfig } from '#lib/server/tokenizers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => generationConfig(request, services.tokenizers)),
})
