import { ndjson } from '#lib/server/http/ndjson.ts'
import { json, methods, readLargeJson, route } from '#lib/server/http/route.ts'
import { openScoring, scoreAtOnce, scoreLines } from '#lib/server/servers/score.ts'
import { scoreRequestSchema } from '#lib/trajectory/scoring/score.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  POST: route({ changes: 'application/json' }, async ({ request, services }) => {
    const asked = await readLargeJson(request, scoreRequestSchema)
    const scoring = await openScoring(asked, services, request.signal)
    return asked.ranges ? ndjson(scoreLines(scoring, request.signal)) : json(await scoreAtOnce(scoring, request.signal))
  }),
})
