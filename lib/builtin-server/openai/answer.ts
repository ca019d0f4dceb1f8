/** Answers the endpoints of OpenAI's form with the results of /generate: complete or as a stream, with errors in their shape. */

import type { GenerateBody } from '#lib/builtin-server/generate/generate-body.ts'
import {
  type GenerateServing,
  type IndexedReply,
  replyStream,
  wholeReplies,
} from '#lib/builtin-server/generate/generate-endpoint.ts'
import type { ReplyJson } from '#lib/builtin-server/generate/reply.ts'
import type { StreamRequest } from '#lib/builtin-server/http/body-fields.ts'
import { DONE, serverSentEvent, serverSentEvents } from '#lib/builtin-server/http/event-stream.ts'
import { HttpRefusal } from '#lib/builtin-server/http/refusal.ts'

/** How an endpoint writes its replies. */
export interface ReplyWriting {
  /** Undefined: the reply is sent when it is complete. */
  readonly stream: StreamRequest | undefined
  whole(replies: readonly ReplyJson[]): object
  /** Yields the events of replies that do not fail, without the last event that every stream has. */
  events(growing: AsyncIterable<IndexedReply>, streamRequest: StreamRequest): AsyncIterable<string>
}

/** Answers a request. Throws HttpRefusal. */
export async function answerOpenAi(
  generateBody: GenerateBody,
  serving: GenerateServing,
  signal: AbortSignal,
  { stream, whole, events }: ReplyWriting,
): Promise<Response> {
  try {
    if (stream) {
      const { growing, abort } = await replyStream(generateBody, serving, signal)
      return serverSentEvents(untilFailure(events(unfailing(growing), stream)), abort)
    }
    const { replies } = await wholeReplies(generateBody, serving, signal)
    return Response.json(whole(replies))
  } catch (error) {
    if (error instanceof HttpRefusal && error.shape === 'value')
      throw new HttpRefusal('chat', error.message, error.status)
    throw error
  }
}

/** Yields the events; a reply that fails ends the stream of all replies. */
async function* untilFailure(events: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* events
  } catch (error) {
    if (!(error instanceof ReplyFailure)) throw error
    yield serverSentEvent({ error: error.body })
  }
  yield DONE
}

async function* unfailing(growing: AsyncIterable<IndexedReply>): AsyncGenerator<IndexedReply> {
  for await (const one of growing) {
    const body = failure(one.reply)
    if (body) throw new ReplyFailure(body)
    yield one
  }
}

class ReplyFailure extends Error {
  readonly body: object
  constructor(body: object) {
    super()
    this.body = body
  }
}

/** Returns the error of a failed reply; an aborted one has no status and is no failure. */
function failure({ meta_info: { finish_reason: finish } }: ReplyJson): object | undefined {
  if (finish?.type !== 'abort' || typeof finish.status_code !== 'number') return undefined
  const { message, status_code: code } = finish
  const type = code === 503 ? 'SERVICE_UNAVAILABLE' : code === 400 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'
  return { object: 'error', message, type, param: null, code }
}
