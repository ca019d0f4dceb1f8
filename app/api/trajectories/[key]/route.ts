import { json, route } from '#lib/server/route.ts'
import { storedTrajectory } from '#lib/server/trajectories.ts'

export const GET = route<{ key: string }>({}, ({ params, services }) => json(storedTrajectory(params.key, services)))

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
