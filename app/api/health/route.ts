import { json, methods, route } from '#lib/server/http/route.ts'

export const dynamic = 'force-dynamic'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({ access: 'origin' }, ({ services }) => json({ status: 'ok', version: services.version })),
})
