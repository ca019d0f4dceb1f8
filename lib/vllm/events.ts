/** Reads the events of a stream in OpenAI's form. */

import * as z from 'zod'
import { errorFromEvent } from '#lib/engine/http/errors.ts'
import { createEventReader } from '#lib/engine/http/event-bytes.ts'
import { jsonValue, unknownAnswer } from '#lib/engine/http/json-reply.ts'
import type { HttpReply } from '#lib/engine/http/transport.ts'

const LONGEST_EVENT = 64 << 20
const DONE = Buffer.from('[DONE]')

const streamErrorSchema = z.looseObject({
  error: z.looseObject({ message: z.string(), code: z.int().nullish() }),
})

/**
 * Yields the JSON values of the events up to [DONE]. `onPart` is called for everything that arrives. Throws EngineError for an
 * event with an error.
 */
export async function* eventsOf(
  reply: HttpReply,
  apiKey: string | undefined,
  onPart: () => void,
): AsyncGenerator<unknown> {
  if (!reply.contentType.startsWith('text/event-stream'))
    throw unknownAnswer(reply.contentType, await reply.text(), 'a stream of events', apiKey)
  const reader = createEventReader(LONGEST_EVENT)
  for await (const bytes of reply.chunks) {
    onPart()
    for (const data of reader.read(bytes)) {
      if (data.equals(DONE)) return
      const value = jsonValue(data.toString('utf8'), apiKey)
      const error = streamErrorSchema.safeParse(value)
      if (error.success) throw errorFromEvent(error.data.error.message, error.data.error.code ?? undefined, apiKey)
      yield value
    }
  }
}
