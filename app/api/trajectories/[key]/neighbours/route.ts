import { json, methods, route } from '#lib/server/http/route.ts'
import { trajectoryNeighbours } from '#lib/server/library/library.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ params, request, services }) =>
    json(trajectoryNeighbours(params.key, request, services)),
  ),
})
