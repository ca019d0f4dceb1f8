import { trajectoryNeighbours } from '#lib/server/library.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ params, request, services }) =>
    json(trajectoryNeighbours(params.key, request, services)),
  ),
})
