import { listTrajectories } from '#lib/server/library.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => {
    services.health.checkStored()
    return json(listTrajectories(request, services))
  }),
})
