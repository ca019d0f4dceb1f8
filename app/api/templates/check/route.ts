import { json, methods, route } from '#lib/server/http/route.ts'
import { readLabRequest } from '#lib/server/templates/lab-routes.ts'
import { checkRequestSchema, checkTemplate } from '#lib/server/templates/template-check.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, checkRequestSchema)
    return json(await checkTemplate(work, services, request.signal))
  }),
})
