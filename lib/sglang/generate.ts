/**
 * One reply of /generate, chunk by chunk. A call is tried again while that may help and no token has come. Where a
 * stream would repeat the prompt's logprobs in every chunk, a call before it fetches them once.
 */
import { createParser } from 'eventsource-parser'
import { splitCall } from '#lib/core/generate-call.ts'
import type { Breaker } from './breaker.ts'
import type { Chance } from './chance.ts'
import { errorFromEvent, foreignText, SglangError } from './errors.ts'
import { jsonOf, jsonValue, notSglang, parsed } from './json-reply.ts'
import { type Chunk, replyReader } from './reply.ts'
import { type GenerateRequest, generateBody } from './request.ts'
import type { Retries } from './retries.ts'
import { type GenerateReply, generateReply, streamError } from './schema.ts'
import type { IdentityWatch } from './server-identity.ts'
import type { Reply, Transport } from './transport.ts'

export interface Server {
  readonly transport: Transport
  readonly apiKey: string | undefined
  readonly retries: Retries
  readonly breaker: Breaker
  readonly identity: IdentityWatch
  readonly chance: Chance
}

const LONGEST_EVENT = 64 << 20

export async function* generate(server: Server, request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
  const { scoringRid, ...whole } = request
  if (scoringRid === undefined) {
    yield* tried(server, whole, signal)
    return
  }
  const { scoring, writing } = splitCall(whole, scoringRid)
  const sentAt = server.chance.nowMs()
  const read = await scored(server, scoring, signal)
  if (read.end?.finish.kind === 'abort') {
    yield read
    return
  }
  const { cachedTokens } = read.end?.usage ?? {}
  const known = {
    ...(read.prompt && { prompt: read.prompt }),
    scoring: {
      rid: read.rid ?? scoringRid,
      elapsedMs: server.chance.nowMs() - sentAt,
      ...(cachedTokens !== undefined && { cachedTokens }),
    },
  }
  yield* followedBy(known, tried(server, writing, signal))
}

/** The only chunk of a call that reads the prompt and writes nothing. */
async function scored(server: Server, request: GenerateRequest, signal: AbortSignal): Promise<Chunk> {
  for await (const chunk of tried(server, request, signal)) {
    if (chunk.tokens.ids.length === 0) return chunk
    throw new SglangError(
      'INCONSISTENT',
      `the server wrote ${chunk.tokens.ids.length} tokens where it was to read the prompt only`,
    )
  }
  throw new Error('a plain reply is one chunk')
}

/** What is known of the prompt comes with the first chunk of the reply. */
async function* followedBy(known: Pick<Chunk, 'prompt' | 'scoring'>, chunks: AsyncGenerator<Chunk>) {
  let rest: typeof known | undefined = known
  for await (const chunk of chunks) {
    yield { ...chunk, ...rest }
    rest = undefined
  }
}

async function* tried(server: Server, request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
  const json = generateBody(request)
  server.retries.begin()
  const call = server.breaker.enter()
  let ending: 'left' | SglangError = 'left'
  try {
    for (let attempt = 1; ; attempt++) {
      // The server may still hold the request that failed, and refuses a second one of the same id.
      const rid = attempt === 1 ? request.rid : `${request.rid}-${attempt}`
      let started = false
      try {
        const reply = await server.transport.send({ method: 'POST', path: '/generate', json: { ...json, rid }, signal })
        for await (const chunk of chunksOf(reply, request, server.apiKey)) {
          ending = 'left'
          call.observe('answered')
          if (!started && request.expected) await server.identity.check(request.expected, signal)
          started = true
          yield attempt === 1 ? chunk : { ...chunk, rid }
        }
        return
      } catch (error) {
        if (error instanceof SglangError) ending = error
        const delayMs = started || signal.aborted ? undefined : server.retries.delayMs(error, attempt)
        if (delayMs === undefined) throw error
        await server.chance.wait(delayMs, signal)
        call.again()
      }
    }
  } finally {
    call.observe(ending)
  }
}

async function* chunksOf(reply: Reply, request: GenerateRequest, apiKey: string | undefined): AsyncGenerator<Chunk> {
  const reader = replyReader(request, (text) => foreignText(text, apiKey))
  if (!request.stream) {
    yield reader.read(parsed(await jsonOf(reply, apiKey), generateReply, '/generate', apiKey))
    return
  }
  let started = false
  let ended = false
  for await (const value of events(reply, apiKey)) {
    const refused = started ? undefined : refusalIn(value, apiKey)
    if (refused) throw refused
    const chunk = reader.read(value)
    started = true
    ended ||= chunk.end !== undefined
    yield chunk
  }
  if (!ended) throw new SglangError('UPSTREAM_TRUNCATED', 'the stream ended before the reply did')
}

/** A stream that was refused before its first token has status 200; its one event says which status was meant. */
function refusalIn({ meta_info: { finish_reason: reason } }: GenerateReply, apiKey: string | undefined) {
  return reason?.type === 'abort' && typeof reason.status_code === 'number'
    ? errorFromEvent(reason.message ?? 'the request was aborted', reason.status_code, apiKey)
    : undefined
}

/** The events of a stream, up to [DONE]. */
async function* events(reply: Reply, apiKey: string | undefined): AsyncGenerator<GenerateReply> {
  if (!reply.contentType.startsWith('text/event-stream'))
    throw notSglang(reply.contentType, await reply.text(), 'a stream of events', apiKey)
  const decoder = new TextDecoder()
  const queue: string[] = []
  const parser = createParser({ onEvent: ({ data }) => queue.push(data), maxBufferSize: LONGEST_EVENT })
  for await (const bytes of reply.chunks) {
    try {
      parser.feed(decoder.decode(bytes, { stream: true }))
    } catch (error) {
      throw new SglangError('TOO_LARGE', `an event of the reply is larger than ${LONGEST_EVENT} characters`, {
        cause: error,
      })
    }
    for (const data of queue.splice(0)) {
      if (data === '[DONE]') return
      const value = jsonValue(data, apiKey)
      const error = streamError.safeParse(value)
      if (error.success) throw errorFromEvent(error.data.error.message, error.data.error.code ?? undefined, apiKey)
      yield parsed(value, generateReply, '/generate', apiKey)
    }
  }
}
