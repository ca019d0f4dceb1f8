import { json, route } from '#lib/server/route.ts'

export const dynamic = 'force-dynamic'

export const GET = route({ access: 'origin' }, ({ services }) => json({ status: 'ok', version: services.version }))

export {
  methodNotAllowed as POST,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
