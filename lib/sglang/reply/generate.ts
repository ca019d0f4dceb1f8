/**
 * Yields one reply of /generate chunk by chunk. A call is retried while that may help and no token has arrived. If a
 * stream would repeat the prompt's logprobs in every chunk, a separate call fetches them once before.
 */
import { splitCall } from '#lib/trajectory/messages/generate-call.ts'
import type { ClockAndRandom } from '../client/clock-and-random.ts'
import { errorFromEvent, foreignText, SglangError } from '../client/errors.ts'
import { type GenerateRequest, generateBodies } from '../client/request.ts'
import { type Server, tryRepeatedly } from '../client/retry.ts'
import type { HttpReply } from '../client/transport.ts'
import { type GenerateReply, generateReplySchema, streamErrorSchema } from '../server/schema.ts'
import { createEventReader } from './event-bytes.ts'
import { jsonValue, notSglang, parseReply } from './json-reply.ts'
import { isPlainReply } from './plain-reply.ts'
import { type Chunk, replyReader } from './reply.ts'
import { type ReplyColumns, readBytes } from './reply-columns.ts'

const LONGEST_EVENT = 64 << 20

/** Yields the reply to a request; `scoringRid` makes a separate scoring call first. */
export function streamReply(server: Server, request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
  const { scoringRid, ...whole } = request
  return scoringRid === undefined
    ? triedGenerate(server, whole, signal)
    : scoredGenerate(server, whole, scoringRid, signal)
}

async function* scoredGenerate(
  server: Server,
  whole: GenerateRequest,
  scoringRid: string,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const one = (call: GenerateRequest) => triedGenerate(server, call, signal)
  const { scoring, writing } = splitCall(whole, scoringRid)
  yield* afterReading(await readPrompt(one, scoring, server.clockAndRandom), () => one(writing))
}

/** The result of a call that scores the prompt and samples nothing; the whole reply if the server aborted it. */
export type ReadPrompt =
  | { readonly kind: 'read'; readonly known: Pick<Chunk, 'prompt'> & Required<Pick<Chunk, 'scoring'>> }
  | { readonly kind: 'aborted'; readonly chunk: Chunk }

/** Sends the call that scores a prompt, and measures its time. */
export async function readPrompt(
  generateOne: (call: GenerateRequest) => AsyncGenerator<Chunk>,
  scoring: GenerateRequest,
  { nowMs }: Pick<ClockAndRandom, 'nowMs'>,
): Promise<ReadPrompt> {
  const sentAt = nowMs()
  const chunk = await onlyChunk(generateOne(scoring))
  if (chunk.end?.finish.kind === 'abort') return { kind: 'aborted', chunk }
  const { cachedTokens } = chunk.end?.usage ?? {}
  return {
    kind: 'read',
    known: {
      ...(chunk.prompt && { prompt: chunk.prompt }),
      scoring: {
        rid: chunk.rid ?? scoring.rid,
        elapsedMs: nowMs() - sentAt,
        ...(cachedTokens !== undefined && { cachedTokens }),
      },
    },
  }
}

/** Returns the only chunk of a call that scores the prompt and samples nothing. */
async function onlyChunk(chunks: AsyncGenerator<Chunk>): Promise<Chunk> {
  for await (const chunk of chunks) {
    if (chunk.tokens.ids.length === 0) return chunk
    throw new SglangError(
      'INCONSISTENT',
      `the server wrote ${chunk.tokens.ids.length} tokens although the request asked for prompt scoring only`,
    )
  }
  throw new Error('a plain reply is one chunk')
}

/** Yields a reply whose first chunk carries the prompt's scores. */
export async function* afterReading(read: ReadPrompt, write: () => AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  if (read.kind === 'aborted') {
    yield read.chunk
    return
  }
  let rest: Partial<Chunk> = read.known
  for await (const chunk of write()) {
    yield { ...chunk, ...rest }
    rest = {}
  }
}

function triedGenerate(server: Server, request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
  const posting = () => ({
    path: '/generate',
    body: generateBodies(request),
    rid: request.rid,
    expected: request.expected,
  })
  return tryRepeatedly(server, posting, (reply) => chunksOf(reply, request, server), signal)
}

async function* chunksOf(
  reply: HttpReply,
  request: GenerateRequest,
  { apiKey, clockAndRandom, firstTokenMs }: Server,
): AsyncGenerator<Chunk> {
  const writesNothing = request.scoreOnly === true || request.sampling.max_new_tokens === 0
  const reader = replyReader({ ...request, writesNothing, mostTokens: request.sampling.max_new_tokens }, (text) =>
    foreignText(text, apiKey),
  )
  if (!request.stream) {
    const { value, columns } = await wholeReply(reply, apiKey)
    const chunk = reader.read(value, columns)
    yield chunk
    if (!chunk.end) throw withoutEnd()
    return
  }
  let started = false
  let ended = false
  let hasTokens = false
  const latestMs = clockAndRandom.nowMs() + firstTokenMs
  const checkTime = (): void => {
    if (!hasTokens && clockAndRandom.nowMs() > latestMs)
      throw new SglangError('TOKEN_TIMEOUT', `the server sent no token within ${firstTokenMs / 1000} s of its headers`)
  }
  for await (const { value, columns } of events(reply, apiKey, checkTime)) {
    const refused = started ? undefined : refusalIn(value, apiKey)
    if (refused) throw refused
    const chunk = reader.read(value, columns)
    started = true
    hasTokens ||= chunk.tokens.ids.length > 0
    ended ||= chunk.end !== undefined
    yield chunk
  }
  if (!ended) throw withoutEnd()
}

const withoutEnd = () => new SglangError('UPSTREAM_TRUNCATED', 'the reply ended without a finish reason')

/** A reply or a part of one; with columns it has no rows. */
interface ReadReply {
  readonly value: GenerateReply
  readonly columns?: ReplyColumns
}

/** Reads a reply; one that is not plain is read again with all checks, which report the error. */
async function wholeReply(reply: HttpReply, apiKey: string | undefined): Promise<ReadReply> {
  const bytes = await reply.bytes()
  if (!reply.contentType.startsWith('application/json'))
    throw notSglang(reply.contentType, bytes.toString('utf8'), 'JSON', apiKey)
  return plainColumns(bytes) ?? { value: replyOf(bytes.toString('utf8'), apiKey) }
}

function plainColumns(bytes: Buffer): ReadReply | undefined {
  const { value, columns } = readBytes(bytes) ?? {}
  return columns && isPlainReply(value) ? { value, columns } : undefined
}

function replyOf(text: string, apiKey: string | undefined): GenerateReply {
  const value = plain(text)
  return value ?? parseReply(jsonValue(text, apiKey), generateReplySchema, '/generate', apiKey)
}

function plain(text: string): GenerateReply | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainReply(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the error of a stream that was refused before its first token: its status is 200, and its only event has the
 * real status.
 */
function refusalIn({ meta_info: { finish_reason: reason } }: GenerateReply, apiKey: string | undefined) {
  return reason?.type === 'abort' && typeof reason.status_code === 'number'
    ? errorFromEvent(reason.message ?? 'the request was aborted', reason.status_code, apiKey)
    : undefined
}

/** Yields the events of a stream, up to [DONE]. `onPart` is called for everything that arrives, also comments and empty lines. */
async function* events(reply: HttpReply, apiKey: string | undefined, onPart: () => void): AsyncGenerator<ReadReply> {
  if (!reply.contentType.startsWith('text/event-stream'))
    throw notSglang(reply.contentType, await reply.text(), 'a stream of events', apiKey)
  const reader = createEventReader(LONGEST_EVENT)
  for await (const bytes of reply.chunks) {
    onPart()
    for (const data of reader.read(bytes)) {
      if (data.equals(DONE)) return
      const read = plainColumns(data)
      if (read && !('error' in read.value)) {
        yield read
        continue
      }
      const text = data.toString('utf8')
      const value = plain(text)
      if (value && !('error' in value)) {
        yield { value }
        continue
      }
      const json = jsonValue(text, apiKey)
      const error = streamErrorSchema.safeParse(json)
      if (error.success) throw errorFromEvent(error.data.error.message, error.data.error.code ?? undefined, apiKey)
      yield { value: parseReply(json, generateReplySchema, '/generate', apiKey) }
    }
  }
}

const DONE = Buffer.from('[DONE]')
