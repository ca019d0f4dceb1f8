import { ndjson } from '#lib/server/ndjson.ts'
import { wholeNumber } from '#lib/server/query.ts'
import { methods, route } from '#lib/server/route.ts'

export const { GET, POST, PUT, PATCH, DELETE } = methods({
  GET: route<{ id: string }>({}, ({ request, params, services }) =>
    ndjson(services.groups.follow(params.id, wholeNumber(request, 'from', 0), request.signal)),
  ),
})
