import { chosenTemplate, readLabRequest } from '#lib/server/lab-request.ts'
import { json, methods, route } from '#lib/server/route.ts'
import { diagnose, doctorRequestSchema } from '#lib/server/template-doctor.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const { asked, texts } = await readLabRequest(request, doctorRequestSchema)
    const chosen = await chosenTemplate(asked, texts.tools, services, request.signal)
    return json(await diagnose(asked, texts, chosen, services, request.signal))
  }),
})
