import { chosenTemplate, readLabRequest } from '#lib/server/lab-request.ts'
import { json, methods, route } from '#lib/server/route.ts'
import { checkRequestSchema, checkTemplate } from '#lib/server/template-check.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const { asked, texts } = await readLabRequest(request, checkRequestSchema)
    const chosen = await chosenTemplate(asked, texts.tools, services, request.signal)
    return json(await checkTemplate(asked, texts, chosen, services, request.signal))
  }),
})
