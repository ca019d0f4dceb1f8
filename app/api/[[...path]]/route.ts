import { HttpProblem } from '#lib/server/http/problem.ts'
import { route } from '#lib/server/http/route.ts'

/** What has no route of its own says so as the others do, and to those only who may ask. */
const none = route<{ path?: string[] }>({}, ({ params }) => {
  throw new HttpProblem({
    status: 404,
    code: 'NO_ROUTE',
    detail: `there is nothing at ${['/api', ...(params.path ?? [])].join('/')}`,
    hint: 'GET /api/openapi.json lists what there is.',
  })
})

export const GET = none
export const POST = none
export const PUT = none
export const PATCH = none
export const DELETE = none
