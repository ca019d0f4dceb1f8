import { json, route } from '#lib/server/route.ts'

export const dynamic = 'force-dynamic'

export const GET = route({ access: 'origin' }, ({ services }) => json({ status: 'ok', version: services.version }))
