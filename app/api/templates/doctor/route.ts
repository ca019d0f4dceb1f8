import { diagnosis, readLabRequest } from '#lib/server/lab-routes.ts'
import { jsonText, methods, route } from '#lib/server/route.ts'
import { doctorRequestSchema } from '#lib/server/template-doctor.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const work = await readLabRequest(request, doctorRequestSchema)
    return jsonText(await diagnosis(work, services, request.signal))
  }),
})
