/**
 * Yields one reply of /generate chunk by chunk. A call is retried while that may help and no token has arrived. If a
 * stream would repeat the prompt's logprobs in every chunk, a separate call fetches them once before.
 */

import type { EngineColumns } from '#lib/engine/columns.ts'
import { errorFromEvent, foreignText } from '#lib/engine/http/errors.ts'
import { eventJson, eventsOf, replyWithoutEnd, startFirstTokenLimit } from '#lib/engine/http/event-stream.ts'
import { parseReply, parseReplyJson, unknownAnswer } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import type { HttpReply } from '#lib/engine/http/transport.ts'
import { afterReading, readPrompt } from '#lib/engine/read-prompt.ts'
import { type Chunk, replyReader } from '#lib/engine/reply.ts'
import { checkRequest, type GenerateRequest, mostReplyBytes } from '#lib/engine/request.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { callBody, splitCall } from '#lib/trajectory/messages/generate-call.ts'
import { type GenerateReply, generateReplySchema } from '../server/schema.ts'
import { engineReply } from './engine-reply.ts'
import { isPlainReply } from './plain-reply.ts'
import { columnsIn, readBytes } from './reply-columns.ts'

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

function triedGenerate(server: Server, request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
  const posting = () => ({
    path: '/generate',
    body: generateBodies(request),
    rid: request.rid,
    routingKey: request.routingKey,
    replyBytes: mostReplyBytes(request),
    expected: request.expected,
  })
  return tryRepeatedly(server, posting, (reply) => chunksOf(reply, request, server), signal)
}

/**
 * Returns a function that builds the body for a request id. Ids that are JSON already are not serialized again: in a
 * long run they are nearly all of it. Throws EngineError REQUEST_REFUSED.
 */
function generateBodies({ bodyWith, ...request }: GenerateRequest): (rid: string) => string | Uint8Array {
  checkRequest(request)
  const { images } = request
  const input = images ? { ...toEngineInput({ ...request, images }), imageData: images.urls } : {}
  const { input_ids: ids, ...others } = callBody({ ...request, ...input })
  const isWritten = bodyWith !== undefined && ids === request.inputIds
  return (rid) => (isWritten ? bodyWith({ ...others, rid }) : JSON.stringify({ input_ids: ids, ...others, rid }))
}

async function* chunksOf(reply: HttpReply, request: GenerateRequest, server: Server): AsyncGenerator<Chunk> {
  const { apiKey } = server
  const writesNothing = request.scoreOnly === true || request.sampling.max_new_tokens === 0
  const reader = replyReader({ ...request, writesNothing, mostTokens: request.sampling.max_new_tokens })
  const redact = (text: string) => foreignText(text, apiKey)
  const chunkOf = ({ value, columns = columnsIn(value.meta_info, reader.readsPrompt) }: ReadReply): Chunk =>
    reader.read(engineReply(value, columns, redact))
  if (!request.stream) {
    const chunk = chunkOf(await wholeReply(reply, apiKey))
    yield chunk
    if (!chunk.end) throw replyWithoutEnd()
    return
  }
  let started = false
  let ended = false
  const limit = startFirstTokenLimit(server)
  for await (const event of eventsOf(reply, apiKey, limit.check, (data) => readEvent(data, apiKey))) {
    const refused = started ? undefined : refusalIn(event.value, apiKey)
    if (refused) throw refused
    const chunk = chunkOf(event)
    started = true
    limit.arrived(chunk.tokens.ids.length)
    ended ||= chunk.end !== undefined
    yield chunk
  }
  if (!ended) throw replyWithoutEnd()
}

/** A reply or a part of one; with columns it has no rows. */
interface ReadReply {
  readonly value: GenerateReply
  readonly columns?: EngineColumns
}

/** Reads a reply; one that is not plain is read again with all checks, which report the error. */
async function wholeReply(reply: HttpReply, apiKey: string | undefined): Promise<ReadReply> {
  const bytes = await reply.bytes()
  if (!reply.contentType.startsWith('application/json'))
    throw unknownAnswer(reply.contentType, bytes.toString('utf8'), 'JSON', apiKey)
  return plainColumns(bytes) ?? { value: replyOf(bytes.toString('utf8'), apiKey) }
}

function plainColumns(bytes: Buffer): ReadReply | undefined {
  const { value, columns } = readBytes(bytes) ?? {}
  return columns && isPlainReply(value) ? { value, columns } : undefined
}

function replyOf(text: string, apiKey: string | undefined): GenerateReply {
  const value = plain(text)
  return value ?? parseReply(parseReplyJson(text, apiKey), generateReplySchema, '/generate', apiKey)
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

/** Reads the data of an event; one that is not plain is read again with all checks, which report the error. */
function readEvent(data: Buffer, apiKey: string | undefined): ReadReply {
  const read = plainColumns(data)
  if (read && !('error' in read.value)) return read
  const text = data.toString('utf8')
  const value = plain(text)
  if (value && !('error' in value)) return { value }
  return { value: parseReply(eventJson(text, apiKey), generateReplySchema, '/generate', apiKey) }
}
