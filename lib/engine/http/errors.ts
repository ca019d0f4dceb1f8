/** Names every way in which a server can fail. Outcomes, files and the page use these names. */
import { isSamplingName } from '#lib/sampling/parameters.ts'

/** The code of a failure. */
export type EngineErrorCode =
  | 'ADDRESS_REFUSED'
  | 'REQUEST_REFUSED'
  | 'CIRCUIT_OPEN'
  | 'CHAT_UNSUPPORTED'
  | 'CONNECT_REFUSED'
  | 'DNS_FAILED'
  | 'CONNECT_TIMEOUT'
  | 'TLS_FAILED'
  | 'TOO_MANY_FILES'
  | 'CONNECTION_RESET'
  | 'HEADERS_TIMEOUT'
  | 'BODY_TIMEOUT'
  | 'TOKEN_TIMEOUT'
  | 'DEADLINE'
  | 'BAD_HTTP'
  | 'BAD_ENCODING'
  | 'BAD_JSON'
  | 'BAD_SHAPE'
  | 'UNKNOWN_SERVER'
  | 'NO_TOKEN_IDS'
  | 'TOO_LARGE'
  | 'INCONSISTENT'
  | 'TOKENIZER_MISMATCH'
  | 'CONTEXT_LENGTH'
  | 'SERVER_CHANGED'
  | 'UPSTREAM_AUTH'
  | 'UPSTREAM_BUSY'
  | 'UPSTREAM_ERROR'
  | 'UPSTREAM_REDIRECT'
  | 'UPSTREAM_REJECTED'
  | 'UPSTREAM_TRUNCATED'
  | 'REQUEST_TOO_LARGE'
  | 'UNKNOWN_PARAMETER'

/** Token counts: `needed` is the prompt and the room for its reply together, `holds` is the size of the context. */
export interface ContextCounts {
  readonly needed?: number
  readonly holds?: number
}

/** A failure of a server or of the connection to it. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: EngineErrorCode
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined
  /** Milliseconds after which the server requests a retry. */
  readonly retryAfterMs: number | undefined
  /** The token counts of a CONTEXT_LENGTH error, as far as the server reported them. */
  readonly context: ContextCounts | undefined
  /**
   * The sampling parameter that the server names in an UNKNOWN_PARAMETER or UPSTREAM_REJECTED error; undefined if it
   * names none.
   */
  readonly parameter: string | undefined
  /** True if a key was sent, for an UPSTREAM_AUTH error. */
  readonly hasSentKey: boolean

  constructor(
    code: EngineErrorCode,
    message: string,
    details: {
      status?: number
      retryAfterMs?: number | undefined
      context?: ContextCounts
      parameter?: string | undefined
      hasSentKey?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.context = details.context
    this.parameter = details.parameter
    this.hasSentKey = details.hasSentKey ?? false
  }

  /** The message with a capital letter, as the page shows it. */
  get sentence(): string {
    return this.message.charAt(0).toUpperCase() + this.message.slice(1)
  }

  get hint(): string {
    if (this.code === 'UPSTREAM_AUTH' && this.hasSentKey) return KEY_REFUSED_HINT
    const isUnreached = this.cause instanceof EngineError && UNREACHED.has(this.cause.code)
    return this.code === 'CIRCUIT_OPEN' && isUnreached ? UNREACHED_HINT : HINTS[this.code]
  }
}

/** Failures that an answer to any other call disproves. */
export const UNREACHED: ReadonlySet<EngineErrorCode> = new Set([
  'CONNECT_REFUSED',
  'CONNECT_TIMEOUT',
  'DNS_FAILED',
  'TLS_FAILED',
])

const UNREACHED_HINT =
  'Check that the server runs and can be reached. Calls continue as soon as the server reports its status.'

const KEY_REFUSED_HINT =
  'The server refused the API key: change it (Servers → Change), or SGLANG_API_KEY for the default server.'

/** Describes the limit of open files of the process or the system, which is also the limit of connections. */
export const OUT_OF_FILES = {
  message: 'Rollscope has as many files and connections open as the system allows',
  hint: 'Close clients that are not used, or start Rollscope with a higher limit: ulimit -n 65536; npm start',
}

/** The advice for the user. The message, which the page shows above it, describes the failure. */
const HINTS: Readonly<Record<EngineErrorCode, string>> = {
  ADDRESS_REFUSED: 'Correct the address. Link-local, metadata, unspecified and multicast addresses are never called.',
  REQUEST_REFUSED:
    'Correct the named value. The request was not sent, because the server cannot answer it or may crash on it.',
  CIRCUIT_OPEN: 'Check the server’s log. The next call after that time tests the server.',
  CHAT_UNSUPPORTED:
    'The chat baseline needs a server that returns token ids from /v1/chat/completions (return_token_ids: supported by SGLang 0.5.23 and vLLM, removed by sglang-router). Choose the built-in server, a newer SGLang or vLLM.',
  CONNECT_REFUSED: 'Start the server, or correct its address.',
  DNS_FAILED: 'Check the host name of the server.',
  CONNECT_TIMEOUT: 'Check the address, the tunnel and the firewall.',
  TLS_FAILED:
    'Use http:// for a plain server. To trust a certificate of your own, start Rollscope with its file as NODE_EXTRA_CA_CERTS.',
  TOO_MANY_FILES: OUT_OF_FILES.hint,
  CONNECTION_RESET: 'The server may have crashed: check its log.',
  HEADERS_TIMEOUT: 'Check the server’s log and its queue.',
  BODY_TIMEOUT: 'Check the server’s log.',
  TOKEN_TIMEOUT: 'Check the server’s log and its queue.',
  DEADLINE: 'Lower max_new_tokens.',
  BAD_HTTP: 'The service at this port does not speak HTTP: check the port.',
  UNKNOWN_SERVER:
    'The service at this address is not an inference server that Rollscope knows: check the address and the port.',
  NO_TOKEN_IDS:
    'Rollscope needs the exact token ids of every reply. Choose a server with SGLang, llama.cpp or vLLM 0.10.2 or newer (return_token_ids), or let this one return them from /v1/completions.',
  BAD_SHAPE:
    'The response lacks fields that the engine of this server sends: check the address, and update the server (SGLang 0.4.6 or newer).',
  BAD_JSON: 'Check the log of the server, and of any router or proxy in front of it.',
  BAD_ENCODING: 'A proxy compresses responses: switch that off for this server.',
  TOO_LARGE: 'Lower max_new_tokens or the number of alternatives, or switch streaming off.',
  INCONSISTENT:
    'What arrived from here on cannot be trusted, so it was not recorded. Check that the tokenizer matches the server’s, and that the server does not run with --allow-auto-truncate.',
  SERVER_CHANGED:
    'The server was restarted with another model in the middle of the run. The recorded part is kept. Send again to continue with it.',
  TOKENIZER_MISMATCH:
    'Choose the tokenizer of the model that the server runs, or “server”, so that the server itself is the tokenizer.',
  CONTEXT_LENGTH: 'Shorten the conversation, lower max_new_tokens, or start the server with a larger --context-length.',
  UPSTREAM_AUTH:
    'The server requires an API key: save one for this server (Servers → Change), or set SGLANG_API_KEY for the default server.',
  UPSTREAM_BUSY: 'Try again later, or lower the load on the server.',
  UPSTREAM_ERROR: 'Check the server’s log.',
  UPSTREAM_REDIRECT: 'Redirects are never followed: enter the server’s final address.',
  UPSTREAM_REJECTED: 'The server’s message says which setting it refuses: change that setting, or the messages.',
  UNKNOWN_PARAMETER: 'Remove this parameter, or choose a server whose version supports it.',
  UPSTREAM_TRUNCATED: 'Check the log of the server, and of any router or proxy in front of it.',
  REQUEST_TOO_LARGE:
    'Raise the size limit of request bodies (sglang-router: --max-payload-size; nginx: client_max_body_size), or shorten the conversation.',
}

/** Longest foreign text that goes into an error message. */
const CLIP = 4096

/**
 * Makes a server's text safe to show: one line of printable text, without our key, clipped last, since half a key is
 * one too many.
 */
export function foreignText(text: string, secret: string | undefined, longest = CLIP): string {
  const printable = text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim()
  const scrubbed = secret ? printable.replaceAll(secret, '[key]') : printable
  return scrubbed.length > longest ? `${scrubbed.slice(0, longest)}… (${scrubbed.length} characters)` : scrubbed
}

/**
 * Creates the error of an answer with an error status. `body` is its text. Reads the four shapes of SGLang's errors.
 */
export function errorFromStatus(
  status: number,
  body: string,
  headers: { retryAfter?: string | undefined },
  secret?: string,
): EngineError {
  const words = foreignText(errorWords(body), secret)
  const detail = words === '' ? `status ${status}` : words
  if (status >= 300 && status < 400)
    return new EngineError('UPSTREAM_REDIRECT', `the server redirects (${status})`, { status })
  if (status === 401 || status === 403)
    return new EngineError(
      'UPSTREAM_AUTH',
      `the server refuses ${secret ? 'the key' : 'a call without a key'} (${status}): ${detail}`,
      {
        status,
        hasSentKey: Boolean(secret),
      },
    )
  if (BUSY.has(status))
    return new EngineError('UPSTREAM_BUSY', `the server is busy (${status}): ${detail}`, {
      status,
      retryAfterMs: retryAfterMs(headers.retryAfter, new Date()),
    })
  if (status === 413)
    return new EngineError('REQUEST_TOO_LARGE', `the request is larger than the server accepts (413): ${detail}`, {
      status,
    })
  const unknown = unknownParameter(words)
  if (unknown !== undefined)
    return new EngineError('UNKNOWN_PARAMETER', `the server does not support the parameter ${unknown} (${status})`, {
      status,
      parameter: unknown,
    })
  if (status >= 500) return new EngineError('UPSTREAM_ERROR', `the server failed (${status}): ${detail}`, { status })
  const context = contextCounts(words)
  if (context) return new EngineError('CONTEXT_LENGTH', detail, { status, context })
  return new EngineError('UPSTREAM_REJECTED', `the server refuses the request (${status}): ${detail}`, {
    status,
    parameter: namedParameter(words),
  })
}

/**
 * Statuses of a request that waited too long or conflicted with another one, so that it may succeed later: sglang-router
 * answers 429 when its queue is full and 408 when a request waited too long in it, a proxy 409 while the server’s state
 * changes.
 */
const BUSY: ReadonlySet<number> = new Set([408, 409, 429, 503])

/**
 * SGLang 0.5.23 lists the parameters that it supports; older versions fail in Python's constructor, with status 400 or
 * 500.
 */
function unknownParameter(words: string): string | undefined {
  const [, inList, inCall] = /unknown field `([\w-]+)`|unexpected keyword argument '([\w-]+)'/.exec(words) ?? []
  return inList ?? inCall
}

/** SGLang's value checks begin with the parameter's name; for grammars they name the kind of grammar. */
function namedParameter(words: string): string | undefined {
  const [, grammar, first = ''] = /^Failed to compile (\w+) grammar|^(\w+)/.exec(words) ?? []
  const name = grammar === 'json' ? 'json_schema' : (grammar ?? first)
  return isSamplingName(name) ? name : undefined
}

/** Returns whether the server lacks the path: versions and routers differ in the paths that they have. */
export const isUnknownPath = (error: unknown): boolean => error instanceof EngineError && error.status === 404

/** Creates the error that came as an event of a stream, whose status is 200. */
export function errorFromEvent(message: string, code: number | undefined, secret?: string): EngineError {
  return errorFromStatus(code ?? 400, JSON.stringify({ error: { message } }), {}, secret)
}

/**
 * Returns the token counts in a refusal; undefined if it is about something else, since a parameter out of range "exceeds"
 * too. Those of SGLang are from 0.4.6 to 0.5.23, those of vLLM from 0.32; the last pattern covers forks.
 */
export function contextCounts(words: string): ContextCounts | undefined {
  const [, input, inputHolds] =
    /input \((\d+) tokens\) is longer than the model's context length \((\d+) tokens\)/i.exec(words) ??
    /input length \((\d+)(?: tokens)?\) exceeds the maximum allowed length \((\d+) tokens\)/i.exec(words) ??
    // vLLM.
    /input length \((\d+)\) exceeds model's maximum context length \((\d+)\)/i.exec(words) ??
    /prompt \(length (\d+)\) .*is longer than the maximum model length of (\d+)/i.exec(words) ??
    []
  if (input !== undefined) return { needed: Number(input), holds: Number(inputHolds) }
  const [, holds, total] =
    /maximum context length of (\d+) tokens\.(?: You requested a total of (\d+) tokens)?/i.exec(words) ?? []
  if (holds !== undefined) return { holds: Number(holds), ...(total !== undefined && { needed: Number(total) }) }
  // vLLM.
  const [, limit, prompt] =
    /maximum context length is (\d+) tokens\.(?: However, your prompt contains (?:at least )?(\d+) input tokens)?/i.exec(
      words,
    ) ?? []
  if (limit !== undefined) return { holds: Number(limit), ...(prompt !== undefined && { needed: Number(prompt) }) }
  // llama.cpp.
  const [, tokens, available] =
    /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/i.exec(words) ?? []
  if (tokens !== undefined) return { needed: Number(tokens), holds: Number(available) }
  return /longer than the model's context length|exceeds? the (?:model's )?(?:maximum )?context length/i.test(words)
    ? {}
    : undefined
}

/** Only the beginning of an answer that is not JSON is searched: an error page names its error there. */
const MOST_OF_A_PAGE = 65_536

function errorWords(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) {
      const { error, message, detail } = value as Record<string, unknown>
      if (typeof error === 'string') return error
      if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
      if (message !== undefined) return String(message)
      if (detail !== undefined) return typeof detail === 'string' ? detail : JSON.stringify(detail)
    }
  } catch {
    // Not JSON: the router and proxies answer in plain text or HTML.
  }
  return body.slice(0, MOST_OF_A_PAGE).replace(/<[^<>]*>/g, ' ')
}

/**
 * Returns the wait that a Retry-After header requests: seconds or an HTTP date. The past, nothing and nonsense give
 * undefined.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+(\.\d+)?$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** Matches RFC 9110’s date forms that name their zone; Date.parse alone reads a date into any number. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/
