import { json, methods, route } from '#lib/server/route.ts'
import { storedTrajectory } from '#lib/server/trajectories.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ params, services }) => json(storedTrajectory(params.key, services))),
})
