/** Calls to Rollscope's own server. The launch token comes with the first address and is kept for this origin only. */
import * as z from 'zod'

const TOKEN_KEY = 'rollscope.token'

/**
 * Moves the token from the address into storage, so that no link copied from here gives it away. Loads the page again:
 * the router has read the address already and would put the token back.
 */
export function takeTokenFromAddress(): void {
  const address = new URL(window.location.href)
  const token = address.searchParams.get('token')
  if (token === null) return
  storeToken(token)
  address.searchParams.delete('token')
  window.location.replace(address)
}

/** Undefined: none is kept here. Workers have no storage: they are given it. */
export const storedToken = (): string | undefined => window.localStorage.getItem(TOKEN_KEY) ?? undefined

export const storeToken = (token: string): void => window.localStorage.setItem(TOKEN_KEY, token)

/** An answer other than success; `code` is for programs, message and hint are for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: number
  readonly hint: string | undefined
  /** Path of the value in what was sent that is wrong, where it is one. */
  readonly field: string | undefined
  /** What may be asked for instead: the server's own tokenizer. */
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
  hint: z.string().optional(),
  field: z.string().optional(),
  remedy: z.literal('server-tokenizer').optional().catch(undefined),
})

export async function callApi(
  path: string,
  init: {
    readonly method?: string
    readonly json?: unknown
    readonly file?: Blob
    readonly signal?: AbortSignal
    /** The browser may keep the answer, and asks each time whether it still holds. */
    readonly revalidate?: boolean
  } = {},
  token = storedToken(),
): Promise<Response> {
  const { method = 'GET', json, file, signal, revalidate = false } = init
  const response = await fetch(path, {
    method,
    headers: {
      // What no header can carry is no token: the server then says that one is missing.
      ...(token !== undefined && /^[\x21-\x7e]+$/.test(token) && { authorization: `Bearer ${token}` }),
      ...(method !== 'GET' && {
        'x-rollscope': '1',
        'content-type': file ? 'application/octet-stream' : 'application/json',
      }),
    },
    ...(method !== 'GET' && { body: file ?? JSON.stringify(json ?? {}) }),
    ...(signal && { signal }),
    cache: revalidate ? 'no-cache' : 'no-store',
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(
      0,
      'UNREACHABLE',
      'Rollscope’s own server does not answer.',
      'It was stopped, or the tunnel to it is closed. Start it again with npm start.',
    )
  })
  if (response.ok) return response
  const problem = problemSchema.safeParse(await response.json().catch(() => undefined))
  if (problem.success) {
    const { code, detail, hint, field, remedy } = problem.data
    throw new ApiError(response.status, code, detail, hint, { field, remedy })
  }
  throw new ApiError(response.status, 'UNKNOWN', `the server answered ${response.status}`)
}

/** The lines of a stream of JSON values. */
export async function* lines(response: Response): AsyncGenerator<unknown> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const parts = (rest + value).split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) yield JSON.parse(part)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
