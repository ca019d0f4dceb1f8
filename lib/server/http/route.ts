/** What every route handler does first and last: access, body, and errors as problems. */
import type * as z from 'zod'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { SglangError } from '#lib/sglang/client/errors.ts'
import { StoreError, type StoreErrorCode } from '#lib/store/store-error.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { bytesText } from '#lib/util/limits.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { type Services, services } from '../services.ts'
import { accessProblem, changeProblem, originProblem } from './access.ts'
import { HttpProblem, problemResponse } from './problem.ts'

export interface RouteContext<Params> {
  readonly request: Request
  readonly params: Params
  readonly services: Services
}

type NextHandler<Params> = (request: Request, context: { params: Promise<Params> }) => Promise<Response>

interface RouteOptions {
  /** Who may call; 'token' unless said otherwise. */
  readonly access?: 'token' | 'origin'
  /** Set for what changes state: the content type its body must have, or that it needs none. */
  readonly changes?: 'application/json' | 'application/octet-stream' | 'without body'
}

export function route<Params = Record<string, never>>(
  { access = 'token', changes }: RouteOptions,
  handler: (context: RouteContext<Params>) => Response | Promise<Response>,
): NextHandler<Params> {
  return async (request, context) => {
    try {
      const all = services()
      const refused =
        (access === 'token'
          ? accessProblem(request.headers, all.config)
          : originProblem(request.headers, all.config)) ??
        (changes && changeProblem(request.headers, changes === 'without body' ? undefined : changes))
      if (refused) return problemResponse(refused)
      return await handler({ request, params: await context.params, services: all })
    } catch (error) {
      // Nobody reads the answer any more; what was under way has ended with its signal.
      if (request.signal.aborted) return new Response(null, { status: 499 })
      return problemResponse(problemOf(error))
    }
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The handlers of a path. Methods that it does not have are refused behind the same gate, in the same kind of answer. */
export function methods<H extends Partial<Record<Method, NextHandler<never>>>>(
  handlers: H,
): H & Record<Exclude<Method, keyof H>, NextHandler<object>> {
  const allowed = Object.keys(handlers).join(', ')
  const refuse = route<object>({}, ({ request }) => {
    const response = problemResponse({
      status: 405,
      code: 'METHOD',
      detail: `${request.method} is not for ${new URL(request.url).pathname}`,
      hint: `Methods: ${allowed}.`,
    })
    response.headers.set('allow', allowed)
    return response
  })
  return { GET: refuse, POST: refuse, PUT: refuse, PATCH: refuse, DELETE: refuse, ...handlers }
}

export const json = (value: unknown, status = 200): Response => jsonText(JSON.stringify(value), status)

/** Of what is text already. */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })

const MEGABYTE = 1 << 20
const LARGEST_JSON = MEGABYTE
/** Over a million ids. */
const LARGEST_IDS = 16 * MEGABYTE
/** No body comes near it; what is kept of one is walked by recursion. */
const DEEPEST_JSON = 100

/** The request's JSON body, checked. Throws Problem. */
export const readJson = async <T>(request: Request, schema: z.ZodType<T>): Promise<T> =>
  checkedJson(await readText(request, LARGEST_JSON), schema)

/** The same of a body that holds the ids or the messages of a trajectory. */
export const readLargeJson = async <T>(request: Request, schema: z.ZodType<T>): Promise<T> =>
  checkedJson(await readText(request, LARGEST_IDS), schema)

/** A body that was read as text. Throws Problem. */
export function checkedJson<T>(text: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new HttpProblem({
      status: 400,
      code: 'BAD_JSON',
      detail: `the body is not JSON: ${error instanceof Error ? error.message : error}`,
    })
  }
  const tooDeep = tooDeepAt(text, DEEPEST_JSON)
  if (tooDeep !== undefined)
    throw new HttpProblem({
      status: 422,
      code: 'TOO_DEEP',
      detail: `the body is nested deeper than ${DEEPEST_JSON} levels, from character ${tooDeep + 1} on`,
    })
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const violation = schemaViolation(parsed.error, value)
    throw new HttpProblem({
      status: 422,
      code: 'BAD_REQUEST',
      detail: violationText(violation),
      field: violation.path === '' ? undefined : violation.path,
    })
  }
  return parsed.data
}

/** The body as text, refused as soon as it is larger than `limit` bytes (`hint`: what to do then), or other than its announced length. */
export async function readText(request: Request, limit: number, hint?: string): Promise<string> {
  const chunks = await Array.fromAsync(bodyChunks(request, limit, hint))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new HttpProblem({ status: 400, code: 'BAD_ENCODING', detail: 'the body is not UTF-8' })
  }
}

/** The body as it arrives. Throws Problem like readText. */
export async function* bodyChunks(request: Request, limit: number, hint?: string): AsyncGenerator<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  const tooLarge = () =>
    new HttpProblem({ status: 413, code: 'TOO_LARGE', detail: `the body is larger than ${bytesText(limit)}`, hint })
  if (announced > limit) throw tooLarge()
  let received = 0
  for await (const chunk of request.body ?? []) {
    received += chunk.byteLength
    if (received > limit) throw tooLarge()
    yield chunk
  }
  if (announced >= 0 && received !== announced)
    throw new HttpProblem({
      status: 400,
      code: 'CUT_BODY',
      detail: `${announced} bytes were announced, ${received} arrived`,
    })
}

/** 500 for the others: nothing that the client can do or wait for. */
const STORE_STATUSES: Readonly<Partial<Record<StoreErrorCode, number>>> = { DATABASE_LOCKED: 503, DISK_FULL: 507 }

function problemOf(error: unknown) {
  if (error instanceof HttpProblem) return error.details
  if (error instanceof SglangError)
    return {
      status: error.code === 'ADDRESS_REFUSED' ? 400 : 502,
      code: error.code,
      detail: error.sentence,
      hint: error.hint,
    }
  if (error instanceof TokenizerError) return { status: 422, code: error.code, detail: error.message, hint: error.hint }
  if (error instanceof TemplateError) return { status: 422, code: 'TEMPLATE_ERROR', detail: error.message }
  if (error instanceof StoreError) {
    if (error.code !== 'DAMAGED') console.error('the store failed:', error)
    const { code, message, hint } = error
    return { status: STORE_STATUSES[code] ?? 500, code, detail: message, hint }
  }
  console.error('unexpected error in a route:', error)
  return { status: 500, code: 'INTERNAL', detail: 'the server failed; its log says more' }
}
