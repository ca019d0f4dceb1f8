import { json, methods, route } from '#lib/server/http/route.ts'
import { groupNamed } from '#lib/server/runs/groups.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ id: string }>({}, ({ params, services }) => json(groupNamed(params.id, services))),
})
