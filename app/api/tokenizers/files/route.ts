import { methods, route } from '#lib/server/route.ts'
import { tokenizerFilesResponse } from '#lib/server/tokenizers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => tokenizerFilesResponse(request, services.tokenizers)),
})
