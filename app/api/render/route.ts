import { readLabRequest } from '#lib/server/lab-routes.ts'
import { labAnswer } from '#lib/server/lab-thread.ts'
import { renderRequestSchema } from '#lib/server/render.ts'
import { jsonText, methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, renderRequestSchema)
    return jsonText(await labAnswer(services.rendering, { kind: 'preview', ...work }, request.signal))
  }),
})
