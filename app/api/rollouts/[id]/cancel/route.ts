import { json, route } from '#lib/server/route.ts'

export const POST = route<{ id: string }>({ changes: 'application/json' }, async ({ params, services }) => {
  await services.runs.cancel(params.id)
  return json({})
})
