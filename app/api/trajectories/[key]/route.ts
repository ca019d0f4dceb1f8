import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { labelChangeSchema, labelTrajectory, removeTrajectory } from '#lib/server/library/library.ts'
import { shownTrajectory } from '#lib/server/library/trajectories.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ key: string }>({}, ({ params, services }) => json(shownTrajectory(params.key, services))),
  PATCH: route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
    json(labelTrajectory(params.key, await readJson(request, labelChangeSchema), services)),
  ),
  DELETE: route<{ key: string }>({ changes: 'application/json' }, ({ params, services }) => {
    removeTrajectory(params.key, services)
    return new Response(null, { status: 204 })
  }),
})
