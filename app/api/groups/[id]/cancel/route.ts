import { json, methods, route } from '#lib/server/http/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ id: string }>({ changes: 'without body' }, async ({ params, services }) => {
    await services.groups.cancel(params.id)
    return json({})
  }),
})
