import { trajectoryHealth } from '#lib/server/library.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, async ({ params, services }) => json(await trajectoryHealth(params.key, services))),
})
