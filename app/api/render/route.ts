import { chosenTemplate, readLabRequest } from '#lib/server/lab-request.ts'
import { renderConversation, renderRequestSchema } from '#lib/server/render.ts'
import { json, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const { asked, texts } = await readLabRequest(request, renderRequestSchema)
    return json(renderConversation(texts, await chosenTemplate(asked, texts.tools, services, request.signal)))
  }),
})
