import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { chooseTokenizer, tokenizerChoiceSchema } from '#lib/server/library/import.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route<{ key: string }>({ changes: 'application/json' }, async ({ request, params, services }) =>
    json(await chooseTokenizer(params.key, await readJson(request, tokenizerChoiceSchema), services, request.signal)),
  ),
})
