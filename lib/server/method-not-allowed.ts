import { operations } from './openapi.ts'
import { problemResponse } from './problem.ts'
import { route } from './route.ts'

/** For the methods that a route does not have: the same gate and the same kind of answer as everywhere. */
export const methodNotAllowed = route<object>({}, ({ request }) => {
  const { pathname } = new URL(request.url)
  const allowed = operations
    .filter(({ path }) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`).test(pathname))
    .map(({ method }) => method.toUpperCase())
    .join(', ')
  const response = problemResponse({
    status: 405,
    code: 'METHOD',
    detail: `${request.method} is not for ${pathname}`,
    hint: `Methods: ${allowed}.`,
  })
  response.headers.set('allow', allowed)
  return response
})
