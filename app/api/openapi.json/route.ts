import { openApi } from '#lib/server/openapi.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json(openApi(services.version))),
})
