import { jsonText, methods, route } from '#lib/server/http/route.ts'
import { readLabRequest } from '#lib/server/templates/lab-routes.ts'
import { labAnswer } from '#lib/server/templates/lab-thread.ts'
import { searchRequestSchema } from '#lib/server/templates/template-doctor.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, searchRequestSchema)
    return jsonText(await labAnswer(services.diagnosing, { kind: 'search', ...work }, request.signal))
  }),
})
