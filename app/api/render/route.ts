import { jsonText, methods, route } from '#lib/server/http/route.ts'
import { readLabRequest } from '#lib/server/templates/lab-routes.ts'
import { labAnswer } from '#lib/server/templates/lab-thread.ts'
import { renderRequestSchema } from '#lib/server/templates/render.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, renderRequestSchema)
    return jsonText(await labAnswer(services.rendering, { kind: 'preview', ...work }, request.signal))
  }),
})
