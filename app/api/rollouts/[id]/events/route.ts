import { eventStream } from '#lib/server/http/ndjson.ts'
import { oneOf, wholeNumber } from '#lib/server/http/query.ts'
import { methods, route } from '#lib/server/http/route.ts'
import { UNTIL } from '#lib/server/runs/event-log.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ id: string }>({}, ({ request, params, services }) => {
    const from = wholeNumber(request, 'from', 0)
    const until = oneOf(request, 'until', UNTIL, 'end')
    return eventStream(services.runs.follow(params.id, from, request.signal, until), { from })
  }),
})
