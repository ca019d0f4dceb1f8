import { groupNamed } from '#lib/server/groups.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ id: string }>({}, ({ params, services }) => json(groupNamed(params.id, services))),
})
