import { json, methods, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ services }) => json(services.store.choices())),
})
