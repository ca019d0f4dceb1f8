import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { parseRequestSchema, parseText } from '#lib/server/templates/parse.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request }) =>
    json(parseText(await readJson(request, parseRequestSchema))),
  ),
})
