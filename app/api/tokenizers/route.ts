import { ndjson } from '#lib/server/http/ndjson.ts'
import { json, methods, readJson, route } from '#lib/server/http/route.ts'
import { loadTokenizer, tokenizerRequestSchema } from '#lib/server/servers/tokenizers.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route({}, async ({ services }) =>
    json({
      downloads: [...services.tokenizers.downloads(), ...services.localModel.downloads()],
      names: await services.tokenizers.names(),
    }),
  ),
  POST: route({ changes: 'application/json' }, async ({ request, services }) =>
    ndjson(loadTokenizer((await readJson(request, tokenizerRequestSchema)).name, services.tokenizers)),
  ),
})
