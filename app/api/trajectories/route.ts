import { json, route } from '#lib/server/route.ts'
import { listTrajectories } from '#lib/server/trajectories.ts'

export const GET = route({}, ({ request, services }) => json(listTrajectories(request, services)))

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
