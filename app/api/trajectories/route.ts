import { json, methods, route } from '#lib/server/http/route.ts'
import { listTrajectories } from '#lib/server/library/library.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => {
    services.health.checkStored()
    return json(listTrajectories(request, services))
  }),
})
