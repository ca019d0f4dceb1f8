import { json, methods, route } from '#lib/server/route.ts'
import { listTrajectories } from '#lib/server/trajectories.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, ({ request, services }) => json(listTrajectories(request, services))),
})
