import { jsonText, methods, route } from '#lib/server/http/route.ts'
import { diagnosis, readLabRequest } from '#lib/server/templates/lab-routes.ts'
import { doctorRequestSchema } from '#lib/server/templates/template-doctor.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, doctorRequestSchema)
    return jsonText(await diagnosis(work, services, request.signal))
  }),
})
