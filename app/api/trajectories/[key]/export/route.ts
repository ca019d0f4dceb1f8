import { methods, route } from '#lib/server/http/route.ts'
import { exportTrajectory } from '#lib/server/library/trajectories.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ request, params, services }) => exportTrajectory(request, params.key, services)),
})
