import { parseRequestSchema, parseText } from '#lib/server/parse.ts'
import { json, methods, readJson, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request }) =>
    json(parseText(await readJson(request, parseRequestSchema))),
  ),
})
