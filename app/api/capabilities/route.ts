import { capabilities } from '#lib/server/capabilities.ts'
import { json, methods, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json(capabilities(services))),
})
