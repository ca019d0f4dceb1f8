import { methods, route } from '#lib/server/route.ts'
import { exportTrajectory } from '#lib/server/trajectories.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ request, params, services }) => exportTrajectory(request, params.key, services)),
})
