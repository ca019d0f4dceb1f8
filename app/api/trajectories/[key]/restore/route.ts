import { json, methods, route } from '#lib/server/http/route.ts'
import { restoreTrajectory } from '#lib/server/library/library.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ key: string }>({ changes: 'application/json' }, ({ params, services }) =>
    json(restoreTrajectory(params.key, services)),
  ),
})
