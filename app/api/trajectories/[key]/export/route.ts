import { route } from '#lib/server/route.ts'
import { exportTrajectory } from '#lib/server/trajectories.ts'

export const GET = route<{ key: string }>({}, ({ request, params, services }) =>
  exportTrajectory(request, params.key, services),
)

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
