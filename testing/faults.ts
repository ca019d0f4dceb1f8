/**
 * All ways in which a server fails, as faults of the test server, each with the outcome that a run must have and the time by
 * which it must have it; and a run of the whole agent that meets one of them. For tests and bench/server/upstream-faults.ts.
 */
import { gzipSync } from 'node:zlib'
import { serverSentEvent } from '#lib/builtin-server/http/event-stream.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { ClockAndRandom } from '#lib/engine/http/clock-and-random.ts'
import type { EngineErrorCode } from '#lib/engine/http/errors.ts'
import { LONGEST_WAIT_MS, RETRY_POLICY } from '#lib/engine/http/retry-policy.ts'
import type { TransportLimits } from '#lib/engine/http/transport.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { rollout } from '#lib/rollout/loop/rollout.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { applyEvent, type LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Outcome, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import {
  badTlsServer,
  CHUNKED,
  CLOSED_PORT,
  chunk,
  type FaultExchange,
  type FaultServer,
  type SentToken,
  type ServerFault,
  startFaultServer,
  swallowingPort,
} from '#testing/sglang/fault-server.ts'
import { scripted } from '#testing/sglang/recordings.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { call, END, empty, user } from './scripted-rollout.ts'
import { chatml } from './small-templates.ts'

/** Part of the reply that is recorded. */
type Kept =
  /** The call records nothing; its messages are returned as unsent. */
  | 'nothing'
  /** A streamed reply is recorded as far as it arrived and marked as cut; a plain reply is not recorded. */
  | 'what-came'
  /** All tokens arrived, at once or streamed, and the response is marked as cut. */
  | 'cut'
  /** The reply is recorded like that of a healthy server. */
  | 'all'

/** A fault with its expected outcome. */
export interface FaultCase {
  readonly what: string
  /** Error code, or the reason for which the run ended. */
  readonly outcome: EngineErrorCode | 'UNKNOWN_FINISH' | Extract<Outcome, { kind: 'ended' }>['reason']
  readonly kept: Kept
  /** Number of attempts of the failing call; 1 if omitted. */
  readonly tries?: number
  /** Whether the call is sent again at once on a new connection, because the first attempt used a connection with earlier replies. */
  readonly isSentAnew?: boolean
  /** Whether chance decides if the first attempt meets a closed connection. */
  readonly mayBeTriedAgain?: boolean
  /** Starts another server that answers in place of the test server; alternative to `fault`. */
  readonly elsewhere?: () => Promise<{ readonly baseUrl: string; close?(): Promise<void> }>
  /** Fault with which the test server answers; alternative to `elsewhere`. */
  readonly fault?: ServerFault
  /** Runs before the failing call. */
  readonly before?: (server: FaultServer) => void
  readonly limits?: Partial<TransportLimits>
  /** Number of repetitions, if smaller than usual because each one waits long. */
  readonly repetitions?: number
  /** Wait that the server requests with Retry-After, in milliseconds. */
  readonly retryAfterMs?: number
  /** Set if plain replies cannot have this fault. */
  readonly onlyStreamed?: true
  /** Tokens of the failing call's reply, if different from the usual ones. */
  readonly reply?: readonly SentToken[]
}

/** A row of the fault table, which docs/upstream-faults.md shows. */
export interface FaultRow {
  readonly number: number
  readonly what: string
  readonly cases: readonly FaultCase[]
}

const status =
  (line: string, body: string, headers: Readonly<Record<string, string>> = {}): ServerFault =>
  async ({ head, write }) => {
    const type = body.startsWith('{') ? 'application/json' : 'text/html'
    await head(line, { 'content-type': type, 'content-length': String(Buffer.byteLength(body)), ...headers })
    await write(body)
  }

/** Returns a fault that begins well and then sends this text: an event of a stream, or a whole plain body. */
const rest =
  (text: (exchange: FaultExchange) => string): ServerFault =>
  async (exchange) => {
    const body = text(exchange)
    if (exchange.isStream) {
      await exchange.begin(3)
      await exchange.write(chunk(`data: ${body}\n\n`))
    } else {
      await exchange.head('200 OK', { 'content-type': 'application/json', ...CHUNKED })
      await exchange.write(chunk(body))
    }
    await exchange.write('0\r\n\r\n')
  }

/** Returns such a fault with a JSON body that claims something impossible. */
const claims = (change: (body: ReturnType<FaultExchange['body']>) => unknown): ServerFault =>
  rest(({ body, tokens, isStream }) => JSON.stringify(change(body(isStream ? 3 : 0, tokens.length))))

const meta =
  (change: (meta: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>) =>
  (body: ReturnType<FaultExchange['body']>) => ({
    ...body,
    meta_info: { ...body.meta_info, ...change(body.meta_info) },
  })

const scores = (meta: Readonly<Record<string, unknown>>) =>
  meta.output_token_logprobs as readonly (readonly [number, number, null])[]

const contentType = (isStream: boolean): Readonly<Record<string, string>> => ({
  'content-type': isStream ? 'text/event-stream' : 'application/json',
  ...CHUNKED,
})

/** Bytes that decompress to 100 MB: consecutive members of a gzip file are one text. */
const BOMB = Buffer.concat(Array(100).fill(gzipSync(Buffer.alloc(1_000_000))))

/** Three times as many tokens as a run requests. */
const TOO_MANY: readonly SentToken[] = Array.from({ length: 600 }, () => ({ id: 65, logprob: -0.5 }))

const busy = (line: string, retryAfter?: string): ServerFault =>
  status(line, '{"message": "full"}', retryAfter === undefined ? {} : { 'retry-after': retryAfter })

const drips =
  (everyMs: number): ServerFault =>
  async ({ begin, write, socket }) => {
    await begin(3)
    while (!socket.destroyed) {
      await write(chunk(' '))
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }

const tooLong = JSON.stringify({
  error: { message: "The input (5000 tokens) is longer than the model's context length (4096 tokens)." },
})

/** All faults, by row of the table. */
export const FAULT_ROWS: readonly FaultRow[] = [
  {
    number: 1,
    what: 'nothing listens at the port',
    cases: [
      {
        what: 'a closed port',
        outcome: 'CONNECT_REFUSED',
        kept: 'nothing',
        tries: 4,
        elsewhere: async () => ({ baseUrl: CLOSED_PORT }),
      },
    ],
  },
  {
    number: 2,
    what: 'the host name is not found',
    cases: [
      {
        what: 'a name that cannot be',
        outcome: 'DNS_FAILED',
        kept: 'nothing',
        elsewhere: async () => ({ baseUrl: 'http://rollscope.invalid:1' }),
      },
    ],
  },
  {
    number: 3,
    what: 'packets are lost on the way',
    cases: [
      {
        what: 'no answer to a SYN',
        outcome: 'CONNECT_TIMEOUT',
        kept: 'nothing',
        tries: 2,
        elsewhere: swallowingPort,
        limits: { connectMs: 100 },
        repetitions: 1,
      },
    ],
  },
  {
    number: 4,
    what: 'the certificate is not accepted, or there is no TLS',
    cases: [
      { what: 'an expired certificate of its own', outcome: 'TLS_FAILED', kept: 'nothing', elsewhere: badTlsServer },
      {
        what: 'plain HTTP at https://',
        outcome: 'TLS_FAILED',
        kept: 'nothing',
        elsewhere: async () => {
          const plain = await scripted((_request, response) => response.end())
          return { ...plain, baseUrl: plain.baseUrl.replace('http:', 'https:') }
        },
      },
    ],
  },
  {
    number: 5,
    what: 'the server accepts the request and sends nothing',
    cases: [
      { what: 'silence', outcome: 'HEADERS_TIMEOUT', kept: 'nothing', fault: () => {}, limits: { firstByteMs: 200 } },
    ],
  },
  {
    number: 6,
    what: 'the connection is closed before the headers',
    cases: [
      {
        what: 'a closed connection',
        outcome: 'CONNECTION_RESET',
        kept: 'nothing',
        tries: 4,
        isSentAnew: true,
        fault: ({ socket }) => void socket.destroy(),
      },
    ],
  },
  {
    number: 7,
    what: 'a header of 200 KB',
    cases: [
      {
        what: 'a long header',
        outcome: 'BAD_HTTP',
        kept: 'nothing',
        fault: status('200 OK', '{}', { 'x-long': 'x'.repeat(200_000) }),
      },
    ],
  },
  {
    number: 8,
    what: 'the server does not speak HTTP',
    cases: [
      {
        what: 'the banner of SSH',
        outcome: 'BAD_HTTP',
        kept: 'nothing',
        fault: ({ write }) => write('SSH-2.0-OpenSSH_9.6\r\n'),
      },
      {
        what: 'a status below 100',
        outcome: 'BAD_HTTP',
        kept: 'nothing',
        fault: ({ write }) => write('HTTP/1.1 099 Odd\r\n\r\n'),
      },
    ],
  },
  {
    number: 9,
    what: 'a redirect',
    cases: [301, 307].map((code) => ({
      what: `${code}`,
      outcome: 'UPSTREAM_REDIRECT',
      kept: 'nothing',
      fault: status(`${code} Elsewhere`, '', { location: 'http://127.0.0.1:9/generate' }),
    })),
  },
  {
    number: 10,
    what: 'the key is refused (401, 403)',
    cases: ['401 Unauthorized', '403 Forbidden'].map((line) => ({
      what: line,
      outcome: 'UPSTREAM_AUTH',
      kept: 'nothing',
      fault: status(line, '{"error": "no"}'),
    })),
  },
  {
    number: 11,
    what: 'the request is refused (400, 404, 422)',
    cases: [
      ...['400 Bad Request', '404 Not Found', '422 Unprocessable Content'].map(
        (line): FaultCase => ({
          what: line,
          outcome: 'UPSTREAM_REJECTED',
          kept: 'nothing',
          fault: status(line, '{"error": {"message": "n exceeds the limit of 8"}}'),
        }),
      ),
      { what: '400, too long', outcome: 'context_full', kept: 'nothing', fault: status('400 Bad Request', tooLong) },
    ],
  },
  {
    number: 12,
    what: 'the server is busy (408, 409, 429, 503), with or without Retry-After',
    cases: [
      ...[undefined, '1', '99999999', 'Wed, 01 Jan 2020 00:00:00 GMT', 'soon'].map(
        (retryAfter): FaultCase => ({
          what: `503, Retry-After ${retryAfter ?? 'missing'}`,
          outcome: 'UPSTREAM_BUSY',
          kept: 'nothing',
          tries: 4,
          fault: busy('503 Service Unavailable', retryAfter),
          ...(Number(retryAfter) > 0 && { retryAfterMs: 1000 * Number(retryAfter) }),
        }),
      ),
      ...['408 Request Timeout', '409 Conflict', '429 Too Many Requests'].map(
        (line): FaultCase => ({ what: line, outcome: 'UPSTREAM_BUSY', kept: 'nothing', tries: 4, fault: busy(line) }),
      ),
      {
        what: '503 twice, then an answer',
        outcome: 'end_turn',
        kept: 'all',
        tries: 3,
        retryAfterMs: 1000,
        fault: (exchange) => (exchange.attempt < 3 ? busy('503 Service Unavailable', '1')(exchange) : exchange.reply()),
      },
    ],
  },
  {
    number: 13,
    what: 'the server fails internally (500, 502, 504)',
    cases: ['500 Internal Server Error', '502 Bad Gateway', '504 Gateway Timeout'].map((line) => ({
      what: line,
      outcome: 'UPSTREAM_ERROR',
      kept: 'nothing',
      tries: 4,
      fault: status(line, '<h1>no</h1>'),
    })),
  },
  {
    number: 14,
    what: 'the connection is closed during the reply, or the reply has no finish reason',
    cases: [
      {
        what: 'closed after a few tokens',
        outcome: 'UPSTREAM_TRUNCATED',
        kept: 'what-came',
        fault: async ({ begin, socket }) => {
          await begin(3)
          socket.end()
        },
      },
      {
        what: 'ended properly, without the reply’s end',
        outcome: 'UPSTREAM_TRUNCATED',
        kept: 'what-came',
        fault: async ({ begin, write, isStream, socket }) => {
          await begin(3)
          if (isStream) await write('0\r\n\r\n')
          else socket.destroy()
        },
      },
      {
        what: 'a complete body whose finish_reason is null',
        outcome: 'UPSTREAM_TRUNCATED',
        kept: 'cut',
        fault: ({ reply }) => reply(meta(() => ({ finish_reason: null }))),
      },
    ],
  },
  {
    number: 15,
    what: 'the body is shorter than its Content-Length',
    cases: [
      {
        what: 'half of it',
        outcome: 'UPSTREAM_TRUNCATED',
        kept: 'what-came',
        fault: async ({ begin, socket }) => {
          await begin(3, { 'content-length': '100000' })
          socket.end()
        },
      },
    ],
  },
  {
    number: 16,
    what: 'the reply stops arriving',
    cases: [
      {
        what: 'a stall',
        outcome: 'BODY_TIMEOUT',
        kept: 'what-came',
        fault: ({ begin }) => begin(3),
        limits: { idleMs: 1_000 },
      },
      {
        what: 'headers and no byte of the body',
        outcome: 'BODY_TIMEOUT',
        kept: 'nothing',
        fault: ({ head, isStream }) => head('200 OK', contentType(isStream)),
        limits: { firstByteMs: 1_000 },
      },
    ],
  },
  {
    number: 17,
    what: 'one byte from time to time, forever',
    cases: [{ what: 'drops', outcome: 'DEADLINE', kept: 'what-came', fault: drips(20), limits: { deadlineMs: 2_000 } }],
  },
  {
    number: 18,
    what: 'a body or an event of many megabytes',
    cases: [
      {
        what: 'an endless line',
        outcome: 'TOO_LARGE',
        kept: 'what-came',
        fault: async ({ begin, write, socket }) => {
          await begin(3)
          while (!socket.destroyed) await write(chunk('x'.repeat(100_000)))
        },
        limits: { bodyBytes: 1_000_000 },
      },
      {
        what: 'two gigabytes, as announced',
        outcome: 'TOO_LARGE',
        kept: 'nothing',
        fault: async ({ head, write }) => {
          await head('200 OK', { 'content-type': 'application/json', 'content-length': String(2 ** 31) })
          await write('{"text": "')
        },
      },
      {
        what: 'a hundred megabytes for a few tokens, as announced',
        outcome: 'TOO_LARGE',
        kept: 'nothing',
        fault: async ({ head, write }) => {
          await head('200 OK', { 'content-type': 'application/json', 'content-length': String(100 << 20) })
          await write('{"text": "')
        },
      },
    ],
  },
  {
    number: 19,
    what: 'compressed data that was not requested',
    cases: [
      {
        what: 'a bomb of 100 MB',
        outcome: 'BAD_ENCODING',
        kept: 'nothing',
        fault: async ({ head, write }) => {
          await head('200 OK', {
            'content-type': 'application/json',
            'content-encoding': 'gzip',
            'content-length': String(BOMB.length),
          })
          await write(BOMB)
        },
      },
    ],
  },
  {
    number: 20,
    what: 'another service answers with 200',
    cases: [
      {
        what: 'a page',
        outcome: 'UNKNOWN_SERVER',
        kept: 'nothing',
        fault: status('200 OK', '<html>Sign in</html>'),
      },
    ],
  },
  {
    number: 21,
    what: 'JSON that is invalid, contains NaN, or is nested without end',
    cases: [
      { what: 'cut JSON', outcome: 'BAD_JSON', kept: 'what-came', fault: rest(() => '{"text": "a') },
      {
        what: 'NaN',
        outcome: 'BAD_JSON',
        kept: 'what-came',
        fault: rest(() => '{"meta_info": {"output_token_logprobs": [[NaN, 65, null]]}}'),
      },
      {
        what: 'a hundred thousand levels',
        outcome: 'BAD_JSON',
        kept: 'what-came',
        fault: rest(() => `{"meta_info": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      },
    ],
  },
  {
    number: 22,
    what: 'meta_info or the logprobs are missing, or have another shape',
    cases: [
      {
        what: 'no meta_info',
        outcome: 'BAD_SHAPE',
        kept: 'what-came',
        fault: claims(({ meta_info: _, ...body }) => body),
      },
      {
        what: 'no logprobs',
        outcome: 'BAD_SHAPE',
        kept: 'what-came',
        fault: claims(meta(() => ({ output_token_logprobs: undefined }))),
      },
      {
        what: 'logprobs of another shape',
        outcome: 'BAD_SHAPE',
        kept: 'what-came',
        fault: claims(meta(() => ({ output_token_logprobs: [{ logprob: -1 }] }))),
      },
    ],
  },
  {
    number: 23,
    what: 'impossible counts, ids or logprobs',
    cases: [
      {
        what: 'more tokens counted than sent',
        outcome: 'INCONSISTENT',
        kept: 'what-came',
        fault: claims(meta(({ completion_tokens: n }) => ({ completion_tokens: Number(n) + 1 }))),
      },
      {
        what: 'fewer prompt tokens read than sent',
        outcome: 'INCONSISTENT',
        kept: 'what-came',
        fault: claims(meta(({ prompt_tokens: n }) => ({ prompt_tokens: Number(n) - 1 }))),
      },
      {
        what: 'ids of other tokens than the logprobs',
        outcome: 'INCONSISTENT',
        kept: 'what-came',
        fault: claims((body) => ({ ...body, output_ids: body.output_ids.map((id) => id + 1) })),
      },
      {
        what: 'more tokens than requested',
        outcome: 'INCONSISTENT',
        kept: 'what-came',
        reply: TOO_MANY,
        fault: ({ reply }) => reply(),
      },
      {
        what: 'a logprob above 0',
        outcome: 'INCONSISTENT',
        kept: 'what-came',
        fault: claims(meta((all) => ({ output_token_logprobs: scores(all).map(([, id]) => [0.5, id, null]) }))),
      },
      {
        what: 'an id beyond the vocabulary',
        outcome: 'TOKENIZER_MISMATCH',
        kept: 'what-came',
        fault: claims((body) => ({
          ...body,
          output_ids: [],
          meta_info: {
            ...body.meta_info,
            output_token_logprobs: scores(body.meta_info).map(([logprob, id]) => [logprob, id + 1_000_000, null]),
          },
        })),
      },
    ],
  },
  {
    number: 24,
    what: 'characters and events split at every byte',
    cases: [
      {
        what: 'a write for each byte',
        outcome: 'end_turn',
        kept: 'all',
        fault: async (exchange) => {
          const { tokens, body, isStream, head, write } = exchange
          const half = Math.ceil(tokens.length / 2)
          const text = isStream
            ? `${serverSentEvent(body(0, half))}${serverSentEvent(body(half, tokens.length))}data: [DONE]\n\n`
            : JSON.stringify(body(0, tokens.length))
          await head('200 OK', contentType(isStream))
          for (const byte of Buffer.from(text)) {
            await write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]))
          }
          await write('0\r\n\r\n')
          exchange.sentAll()
        },
      },
    ],
  },
  {
    number: 25,
    what: 'the reply ends in another way: aborted, at its length, or for an unknown reason',
    cases: [
      {
        what: 'abort',
        outcome: 'aborted',
        kept: 'all',
        fault: ({ reply }) => reply(meta(() => ({ finish_reason: { type: 'abort', message: 'Aborted' } }))),
      },
      {
        what: 'abort in the queue',
        outcome: 'aborted',
        kept: 'nothing',
        fault: async ({ head, write, isStream }) => {
          const json = JSON.stringify({
            text: '',
            output_ids: [],
            meta_info: { finish_reason: { type: 'abort', message: 'Abort in waiting queue' } },
          })
          await head('200 OK', contentType(isStream))
          await write(`${chunk(isStream ? `data: ${json}\n\ndata: [DONE]\n\n` : json)}0\r\n\r\n`)
        },
      },
      {
        what: 'length',
        outcome: 'length',
        kept: 'all',
        fault: ({ reply }) => reply(meta(() => ({ finish_reason: { type: 'length', length: 9 } }))),
      },
      {
        what: 'a new reason',
        outcome: 'UNKNOWN_FINISH',
        kept: 'all',
        fault: ({ reply }) => reply(meta(() => ({ finish_reason: { type: 'solar_flare' } }))),
      },
    ],
  },
  {
    number: 26,
    what: 'the server restarts as another model',
    cases: [
      {
        what: 'another model',
        outcome: 'SERVER_CHANGED',
        kept: 'nothing',
        mayBeTriedAgain: true,
        before: (server) => server.restartAs('other'),
      },
      {
        what: 'the same model',
        outcome: 'end_turn',
        kept: 'all',
        mayBeTriedAgain: true,
        before: (server) => server.restartAs('good'),
      },
      {
        what: 'the same with new weights',
        outcome: 'end_turn',
        kept: 'all',
        mayBeTriedAgain: true,
        before: (server) => server.restartAs('good', '2'),
      },
    ],
  },
  {
    number: 27,
    what: 'the request is larger than the server or a proxy accepts (413)',
    cases: [
      {
        what: '413 Content Too Large',
        outcome: 'REQUEST_TOO_LARGE',
        kept: 'nothing',
        fault: status('413 Content Too Large', 'length limit exceeded'),
      },
    ],
  },
  {
    number: 28,
    what: 'a stream stays open without a token',
    cases: [
      { what: 'comments', send: () => ': still here\n\n' },
      { what: 'events without tokens', send: ({ body }: FaultExchange) => serverSentEvent(body(0, 0)) },
    ].map(({ what, send }) => ({
      what,
      outcome: 'TOKEN_TIMEOUT',
      kept: 'nothing',
      onlyStreamed: true,
      fault: async (exchange) => {
        await exchange.head('200 OK', contentType(true))
        while (!exchange.socket.destroyed) {
          await exchange.write(chunk(send(exchange)))
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
      limits: { firstTokenMs: 1_000 },
    })),
  },
]

const textOfIds = (ids: readonly number[]): string =>
  textOf(ids, Object.fromEntries(ids.map((id) => [id, vocabEntry(byteTokenizer.bytes(id))])))

/** Replies of a healthy server: two turns with a tool call, then an answer with multi-byte characters. */
export const REPLIES: readonly (readonly SentToken[])[] = [
  call('calculator', { expression: '1 + 1' }),
  call('calculator', { expression: '2 + 2' }),
  'Vier, 四, ✓.',
].map((text) =>
  [...byteTokenizer.encode(text), END].map((id, index) => ({ id, logprob: -Math.fround(0.01 * (index + 1)) })),
)

/** Results of a run that met a fault. */
export interface FaultRun {
  readonly trajectory: Trajectory
  readonly log: FaultServer['log']
  /** Waits before the repetitions of the failing call in milliseconds; the run does not really wait. */
  readonly waitsMs: readonly number[]
  /** Duration of the failing call in milliseconds, without its waits. */
  readonly elapsedMs: number
}

/**
 * Runs the agent; its call number `at` (from 1) meets the fault, or none if `found` is undefined. `standard` has the limits of
 * calls for cases without limits of their own.
 */
export async function runFault(
  found: FaultCase | undefined,
  isStream: boolean,
  at: number,
  {
    signal = new AbortController().signal,
    standard = {},
  }: { readonly signal?: AbortSignal; readonly standard?: Partial<TransportLimits> } = {},
): Promise<FaultRun> {
  const closing: (() => Promise<void>)[] = []
  try {
    const server = await startFaultServer({
      replies: REPLIES.map((reply, index) => (index === at - 1 && found?.reply) || reply),
      endOfTurnId: END,
      textOf: textOfIds,
      ...(found?.fault && { at: { call: at, fault: found.fault } }),
    })
    closing.push(server.close)
    const other = await found?.elsewhere?.()
    if (other?.close) closing.push(other.close)
    const waitsMs: number[] = []
    const clockAndRandom: ClockAndRandom = {
      nowMs: () => performance.now(),
      random: () => 0.5,
      async wait(ms) {
        waitsMs.push(ms)
      },
    }
    const clientOf = (baseUrl: string, { limits = {}, repetitions = 3 }: Partial<FaultCase> = {}): EngineClient => {
      const client = createClient({
        baseUrl,
        apiKey: undefined,
        limits: { ...standard, ...limits },
        retry: { repetitions },
        clockAndRandom,
      })
      closing.push(() => client.close())
      return client
    }
    const good = clientOf(server.baseUrl)
    // Only the failing call gets tight limits, because the others may be slow on a busy machine.
    const bad = found?.elsewhere || found?.limits ? clientOf(other?.baseUrl ?? server.baseUrl, found) : good
    const description = await good.describe(new AbortController().signal)
    let calls = 0
    let elapsedMs = 0
    let state: LiveTrajectory | undefined
    const timed = async function* (chunks: ReturnType<EngineClient['generate']>) {
      const startedMs = performance.now()
      try {
        yield* chunks
      } finally {
        elapsedMs = performance.now() - startedMs
      }
    }
    for await (const event of rollout(
      {
        rolloutId: 'r',
        trajectory: { ...empty, model: { ...empty.model, tools: [calculator.spec] } },
        messages: [user('How much?')],
      },
      { sampling: { max_new_tokens: 200 }, limits: {}, promptLogprobs: true, topLogprobs: 0, stream: isStream },
      {
        generate(request, own) {
          if (++calls !== at) return good.generate(request, own)
          found?.before?.(server)
          return timed(bad.generate(request, own))
        },
        serverName: 'faulty',
        server: description,
        promptEncoder: { tokenizer: byteTokenizer, template: chatTemplate(chatml, {}) },
        parser: hermes,
        tools: [calculator],
        now: () => new Date(0),
        elapsedMs: () => performance.now(),
        newRequestId: () => crypto.randomUUID().replaceAll('-', ''),
      },
      signal,
    ))
      state = applyEvent(state, event)
    if (!state) throw new Error('a rollout has events')
    return { trajectory: state, log: server.log, waitsMs, elapsedMs }
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** Returns the outcome as one word: the stop reason, the error code, or the kind. */
export const faultOutcome = ({ outcome }: Trajectory): string =>
  outcome.kind === 'ended' ? outcome.reason : outcome.kind === 'failed' ? outcome.code : outcome.kind

/** Returns the response segments of a trajectory. */
export const responsesOf = ({ segments }: Trajectory): ResponseSegment[] =>
  segments.filter((segment) => segment.kind === 'response')

/** Time for one attempt on an idle machine without any waits, in milliseconds. */
const AT_ONCE_MS = 1_000

/** Returns the milliseconds by which a call with this fault must have ended under these limits, waits included. */
export function longestMs(
  { limits = {}, tries = 1, repetitions, retryAfterMs }: FaultCase,
  all: TransportLimits,
): number {
  // A case with fewer repetitions than usual represents one with the usual number.
  const attempts = repetitions === undefined ? tries : 1 + RETRY_POLICY.repetitions
  const endedBy = ENDING.filter((name) => limits[name] !== undefined)
  const tryMs = AT_ONCE_MS + endedBy.reduce((sum, name) => sum + all[name], 0)
  const waitsMs = Array.from({ length: attempts - 1 }, (_, index) =>
    Math.min(LONGEST_WAIT_MS, 1.25 * (retryAfterMs ?? RETRY_POLICY.firstMs * 2 ** index)),
  )
  return attempts * tryMs + waitsMs.reduce((sum, ms) => sum + ms, 0)
}

const ENDING = ['connectMs', 'firstByteMs', 'idleMs', 'firstTokenMs', 'deadlineMs'] as const

/** Returns the cases that apply to streamed or to plain replies, each with the number of its row. */
export const casesOf = (isStream: boolean): readonly (FaultCase & Pick<FaultRow, 'number'>)[] =>
  FAULT_ROWS.flatMap(({ number, cases }) =>
    cases.filter(({ onlyStreamed }) => isStream || !onlyStreamed).map((one) => ({ ...one, number })),
  )
