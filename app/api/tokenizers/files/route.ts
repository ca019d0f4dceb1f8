import { methods, route } from '#lib/server/http/route.ts'
import { tokenizerFilesResponse } from '#lib/server/servers/tokenizers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => tokenizerFilesResponse(request, services.tokenizers)),
})
