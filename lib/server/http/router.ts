/**
 * Finds the row of a request in the table of routes: checks access first, then the path, the method and the body, and answers errors as
 * problems.
 */
import { errorBody } from '#lib/session/protocols/refusal.ts'
import { withAdvice } from '#lib/util/text/with-advice.ts'
import { services } from '../services.ts'
import { accessProblem, changeProblem, clientProblem, encodingProblem, originProblem } from './access.ts'
import type { Endpoint } from './endpoint.ts'
import { foreseenProblem } from './foreseen-problem.ts'
import { json } from './json-response.ts'
import { type ProblemDetails, problemResponse } from './problem.ts'

/** Returns the function that answers every request for these endpoints. */
export function createRouter(endpoints: readonly Endpoint[]): (request: Request) => Promise<Response> {
  const rows = endpoints.map((endpoint) => ({ endpoint, names: endpoint.path.split('/') }))
  return async (request) => {
    let respond = problemResponse
    try {
      const sent = sentSegments(request)
      const fitting = rows.flatMap(({ endpoint, names }) => {
        const params = sent && pathParams(names, sent)
        return params ? [{ endpoint, params, isOpen: names.at(-1) === REST }] : []
      })
      // A path that is named has priority over one that ends in any segments.
      const named = fitting.filter(({ isOpen }) => !isOpen)
      const found = named.length > 0 ? named : fitting
      // A HEAD request is answered like GET; the HTTP server omits the body.
      const method = request.method === 'HEAD' ? 'GET' : request.method
      const row = found.find(({ endpoint }) => endpoint.method === method)
      const all = services()
      const access = row?.endpoint.access ?? 'token'
      if (access === 'client') respond = clientProblemResponse
      const refused =
        ACCESS_PROBLEMS[access](request.headers, all.config) ??
        (row?.endpoint.body &&
          (access === 'client' ? encodingProblem(request.headers) : changeProblem(request.headers, row.endpoint.body)))
      if (refused) return respond(refused)
      if (!row)
        return found.length === 0
          ? unknownPath(request)
          : refusedMethod(
              request,
              found.map(({ endpoint }) => endpoint.method),
            )
      const { endpoint, params } = row
      const body = await endpoint.body?.read(request)
      if (endpoint.writes ?? WRITING_METHODS.has(method)) await all.store.whenUnlocked()
      const answer = await endpoint.handle({ request, params, body, services: all, signal: request.signal })
      if (answer instanceof Response) return answer
      const status = Number(Object.keys(endpoint.answers)[0])
      return answer === undefined ? new Response(null, { status }) : json(answer, status)
    } catch (error) {
      // The client has left; its work has ended with its signal.
      if (request.signal.aborted) return new Response(null, { status: 499 })
      return respond(problemOf(error))
    }
  }
}

/** Returns the response of an error for the client library of a model API, which reads its message in `error`. */
const clientProblemResponse = (problem: ProblemDetails): Response =>
  problemResponse(
    problem,
    errorBody('chat', { status: problem.status, message: withAdvice(problem.detail, problem.hint) }),
  )

const WRITING_METHODS: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE'])

const ACCESS_PROBLEMS = { origin: originProblem, token: accessProblem, client: clientProblem } as const

/** The last segment of an endpoint's path if it matches one or more sent segments. */
const REST = '{path*}'

/** Returns the decoded segments of the path, without a slash at its end; undefined if they cannot be decoded. */
function sentSegments(request: Request): readonly string[] | undefined {
  try {
    return new URL(request.url).pathname
      .replace(/(?<=.)\/$/, '')
      .split('/')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/** Returns the parameters of a sent path by the segments of an endpoint's path; undefined if the paths differ. */
function pathParams(names: readonly string[], sent: readonly string[]): Readonly<Record<string, string>> | undefined {
  const isOpen = names.at(-1) === REST
  if (isOpen ? sent.length < names.length : names.length !== sent.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const segment = name === REST ? sent.slice(index).join('/') : (sent[index] ?? '')
    if (name === REST) {
      params['path*'] = segment
      continue
    }
    if (!name.startsWith('{')) {
      if (name !== segment) return undefined
    } else if (segment === '') return undefined
    else params[name.slice(1, -1)] = segment
  }
  return params
}

const unknownPath = (request: Request): Response =>
  problemResponse({
    status: 404,
    code: 'NO_ROUTE',
    detail: `there is no route ${sentSegments(request)?.join('/') ?? request.url}`,
    hint: 'GET /api/openapi.json lists all routes.',
  })

function refusedMethod(request: Request, allowed: readonly string[]): Response {
  const response = problemResponse({
    status: 405,
    code: 'METHOD',
    detail: `the method ${request.method} is not allowed for ${new URL(request.url).pathname}`,
    hint: `Methods: ${allowed.join(', ')}.`,
  })
  response.headers.set('allow', allowed.join(', '))
  return response
}

function problemOf(error: unknown): ProblemDetails {
  const problem = foreseenProblem(error)
  if (problem) return problem
  console.error('unexpected error in a route:', error)
  return { status: 500, code: 'INTERNAL', detail: 'Rollscope itself failed: see its log' }
}
