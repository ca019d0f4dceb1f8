import { json, methods, route } from '#lib/server/http/route.ts'
import { trajectoryHealth } from '#lib/server/library/library.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, async ({ params, services }) => json(await trajectoryHealth(params.key, services))),
})
