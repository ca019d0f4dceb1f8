import { json, route } from '#lib/server/route.ts'
import { listTrajectories } from '#lib/server/trajectories.ts'

export const GET = route({}, ({ request, services }) => json(listTrajectories(request, services)))
