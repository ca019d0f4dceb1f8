import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { changeReward, rewardChangeSchema } from '#lib/server/runs/groups.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  PUT: route<{ id: string }>({ changes: 'application/json' }, async ({ request, params, services }) => {
    const { reward } = await readJson(request, rewardChangeSchema)
    return json(await changeReward(params.id, reward, services))
  }),
})
