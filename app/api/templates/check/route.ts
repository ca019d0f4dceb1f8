import { readLabRequest } from '#lib/server/lab-routes.ts'
import { json, methods, route } from '#lib/server/route.ts'
import { checkRequestSchema, checkTemplate } from '#lib/server/template-check.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, checkRequestSchema)
    return json(await checkTemplate(work, services, request.signal))
  }),
})
