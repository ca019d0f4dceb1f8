/** Calls Rollscope's own server. The launch token comes with the first address and is stored for this origin only. */
import * as z from 'zod/mini'
import type { SchemaReader } from '#lib/trajectory/events/event-reader.ts'
import { keepInBrowser, readStoredText } from './browser-storage.ts'

const TOKEN_KEY = 'rollscope.token'

/**
 * Moves the token from the address into storage, so that no link copied from here reveals it. Reloads the page, because the router has
 * already read the address and would restore the token.
 */
export function takeTokenFromAddress(): void {
  const address = new URL(window.location.href)
  const token = address.searchParams.get('token')
  if (token === null) return
  storeToken(token)
  address.searchParams.delete('token')
  window.location.replace(address)
}

/** Returns the stored token; undefined if there is none. Workers have no storage, so only pages call the server. */
export const storedToken = (): string | undefined => readStoredText(TOKEN_KEY) ?? tokenOfPage

/** Stores the token for all pages of this origin. Returns whether the browser keeps it; otherwise this page has it until it is reloaded. */
export function storeToken(token: string): boolean {
  tokenOfPage = token
  return keepInBrowser(TOKEN_KEY, token)
}

/** The token of a browser that stores nothing. */
let tokenOfPage: string | undefined

/** Thrown for an answer other than success. `code` is for programs; message and hint are for people. A status of 0 means no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: number
  readonly hint: string | undefined
  /** Path of the invalid value in the request's body; undefined if the error concerns no single value. */
  readonly field: string | undefined
  /** Alternative that the user may choose: the server's own tokenizer. */
  readonly remedy: 'server-tokenizer' | undefined
  constructor(
    status: number,
    code: string,
    message: string,
    hint?: string,
    { field, remedy }: { readonly field?: string | undefined; readonly remedy?: 'server-tokenizer' | undefined } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.hint = hint
    this.field = field
    this.remedy = remedy
  }
}

const problemSchema = z.looseObject({
  code: z.string(),
  detail: z.string(),
  hint: z.optional(z.string()),
  field: z.optional(z.string()),
  remedy: z.catch(z.optional(z.literal('server-tokenizer')), undefined),
})

/** Longest time for an answer to a change of a few bytes, in milliseconds. The server itself waits 5 s for a locked database. */
export const CHANGE_MS = 30_000

interface CallOptions {
  readonly method?: string
  readonly json?: unknown
  readonly file?: Blob
  readonly signal?: AbortSignal | undefined
  /** Longest time for the answer in milliseconds. After it the server counts as unreachable. Omitted: any. */
  readonly limitMs?: number
  /** Whether the browser may cache the answer; it revalidates the copy each time. */
  readonly revalidate?: boolean
  /** Media types of the answer; omitted: any. */
  readonly accept?: string | undefined
}

/** Calls the server and returns the checked JSON of its answer. Throws ApiError, or the signal's reason. */
export async function fetchJson<T>(path: string, schema: SchemaReader<T>, options: CallOptions = {}): Promise<T> {
  return readJsonAnswer(path, await callApi(path, options), schema, options.signal)
}

/** Returns the checked JSON of an answer. Throws ApiError, or the signal's reason. */
export async function readJsonAnswer<T>(
  path: string,
  response: Response,
  schema: SchemaReader<T>,
  signal?: AbortSignal,
): Promise<T> {
  const value: unknown = await response.json().catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw error instanceof SyntaxError ? badAnswer(path, 'it is not JSON') : unreachableError()
  })
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw await departureOf(path, parsed.error, value)
}

/** Calls the server and yields the checked lines of its answer. Throws ApiError, or the signal's reason. */
export async function* fetchLines<T>(
  path: string,
  schema: SchemaReader<T>,
  options: CallOptions = {},
): AsyncGenerator<T> {
  for await (const line of streamJsonLines(await callApi(path, options), path)) {
    const parsed = schema.safeParse(line)
    if (!parsed.success) throw await departureOf(path, parsed.error, line)
    yield parsed.data
  }
}

/**
 * Returns the error of an answer that departs from its schema, with the position. Answers rarely do, so the code that describes it is loaded
 * then. A server that was updated no longer has this code.
 */
export async function departureOf(path: string, error: z.core.$ZodError, value: unknown): Promise<ApiError> {
  const why = await import('#lib/util/schema-violation.ts').then(
    ({ schemaViolation, violationText }) => violationText(schemaViolation(error, value)),
    () => 'it does not have the expected form',
  )
  return badAnswer(path, why)
}

const badAnswer = (path: string, why: string): ApiError =>
  new ApiError(
    200,
    'BAD_ANSWER',
    `The answer of ${path.replace(/\?.*/s, '')} cannot be read: ${why}.`,
    'Reload the page: the server may have been updated since.',
  )

/** Returns the error for a server that does not answer. */
export const unreachableError = (): ApiError =>
  new ApiError(
    0,
    'UNREACHABLE',
    'Rollscope’s own server does not answer.',
    'It is busy, it was stopped, or the tunnel to it is closed. If it was stopped, start it again with npm start.',
  )

/** Calls the server; the caller reads the answer, such as a file. Throws ApiError, or the signal's reason. */
export async function callApi(path: string, options: CallOptions = {}): Promise<Response> {
  const token = storedToken()
  const { method = 'GET', json, file, signal, limitMs, revalidate = false, accept } = options
  const limit = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs)
  const signals = [signal, limit].filter((one) => one !== undefined)
  const response = await fetch(path, {
    method,
    headers: {
      // A token that no header can carry is omitted; the server then reports a missing token.
      ...(token !== undefined && /^[\x21-\x7e]+$/.test(token) && { authorization: `Bearer ${token}` }),
      ...(accept !== undefined && { accept }),
      ...(method !== 'GET' && {
        'x-rollscope': '1',
        'content-type': file ? 'application/octet-stream' : 'application/json',
      }),
    },
    ...(method !== 'GET' && { body: file ?? JSON.stringify(json ?? {}) }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    cache: revalidate ? 'no-cache' : 'no-store',
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachableError()
  })
  if (response.ok) return response
  const problem = problemSchema.safeParse(await response.json().catch(() => undefined))
  if (problem.success) {
    const { code, detail, hint, field, remedy } = problem.data
    throw new ApiError(response.status, code, detail, hint, { field, remedy })
  }
  throw new ApiError(response.status, 'UNKNOWN', `the server answered ${response.status}`)
}

/** Yields the unchecked values of a stream of JSON lines. `onPart` is called for all that arrives, also inside of a line. Throws ApiError. */
export async function* streamJsonLines(
  response: Response,
  path: string,
  onPart: () => void = () => {},
): AsyncGenerator<unknown> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  /** Parts of the line that has not ended. Joined with each part, a line of 20 MB would take seconds. */
  let open: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      onPart()
      const [first = '', ...others] = value.split('\n')
      open.push(first)
      for (const next of others) {
        yield parsedLine(open.join(''), path)
        open = [next]
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parsedLine(line: string, path: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw badAnswer(path, 'a line of it is not JSON')
  }
}
