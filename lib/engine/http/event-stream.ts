/** Reads a reply that is a stream of server-sent events with JSON, up to [DONE]. */
import * as z from 'zod'
import { EngineError, errorFromEvent } from './errors.ts'
import { createEventReader } from './event-bytes.ts'
import { parseReplyJson, unknownAnswer } from './json-reply.ts'
import type { Server } from './retry.ts'
import type { HttpReply } from './transport.ts'

const LONGEST_EVENT = 64 << 20
/** More than the fields, line ends and keep-alive comments of one event take. */
const BYTES_AROUND_DATA = 256
const DONE = Buffer.from('[DONE]')

/**
 * Yields what `read` returns for the data of each event. `onPart` is called for everything that arrives, also comments and empty lines,
 * which together may be as long as an event. Throws EngineError.
 */
export async function* eventsOf<Value>(
  reply: HttpReply,
  apiKey: string | undefined,
  onPart: () => void,
  read: (data: Buffer) => Value,
): AsyncGenerator<Value> {
  if (!reply.contentType.startsWith('text/event-stream'))
    throw unknownAnswer(reply.contentType, await reply.text(), 'a stream of events', apiKey)
  const longest = Math.min(LONGEST_EVENT, reply.wholeBytes)
  const reader = createEventReader(longest)
  /** Bytes of the event that has not ended, and of everything that is no event. */
  let others = 0
  for await (const bytes of reply.chunks) {
    onPart()
    others += bytes.length
    for (const data of reader.read(bytes)) {
      if (data.equals(DONE)) return
      others = Math.max(0, others - data.length - BYTES_AROUND_DATA)
      yield read(data)
    }
    if (others > 2 * longest)
      throw new EngineError('TOO_LARGE', `the stream has more than ${longest} bytes beside its events`)
  }
}

const streamErrorSchema = z.looseObject({
  error: z.looseObject({ message: z.string(), code: z.int().nullish() }),
})

/** Returns the JSON of an event. Throws EngineError for one that reports an error. */
export function eventJson(text: string, apiKey: string | undefined): unknown {
  const value = parseReplyJson(text, apiKey)
  const error = streamErrorSchema.safeParse(value)
  if (error.success) throw errorFromEvent(error.data.error.message, error.data.error.code ?? undefined, apiKey)
  return value
}

/** Limits the time from now to the first token of a stream. */
export interface FirstTokenLimit {
  /** Throws EngineError TOKEN_TIMEOUT if the time has passed without a token. */
  check(): void
  /** Ends the limit if tokens have arrived. */
  arrived(tokens: number): void
}

/** Starts the limit. */
export function startFirstTokenLimit({
  clockAndRandom,
  firstTokenMs,
}: Pick<Server, 'clockAndRandom' | 'firstTokenMs'>): FirstTokenLimit {
  const latestMs = clockAndRandom.nowMs() + firstTokenMs
  let hasTokens = false
  return {
    check() {
      if (!hasTokens && clockAndRandom.nowMs() > latestMs)
        throw new EngineError(
          'TOKEN_TIMEOUT',
          `the server sent no token within ${firstTokenMs / 1000} s of its headers`,
        )
    },
    arrived(tokens) {
      hasTokens ||= tokens > 0
    },
  }
}

/** Returns the error of a reply that was cut. */
export const replyWithoutEnd = (): EngineError =>
  new EngineError('UPSTREAM_TRUNCATED', 'the reply ended without a finish reason')
