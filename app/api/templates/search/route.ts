import { readLabRequest } from '#lib/server/lab-routes.ts'
import { labAnswer } from '#lib/server/lab-thread.ts'
import { jsonText, methods, route } from '#lib/server/route.ts'
import { searchRequestSchema } from '#lib/server/template-doctor.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, searchRequestSchema)
    return jsonText(await labAnswer(services.diagnosing, { kind: 'search', ...work }, request.signal))
  }),
})
