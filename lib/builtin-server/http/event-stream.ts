/** Answers with streams of server-sent events. */

/** Returns an answer that sends the events. `onCancel` is called when the client leaves. */
export function serverSentEvents(events: AsyncGenerator<string>, onCancel: () => void): Response {
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: onCancel,
  })
  return new Response(stream, { headers: STREAM_HEADERS })
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy must not compress the stream, because it would hold events back until it has enough of them.
  'cache-control': 'no-cache, no-transform',
}

/** Returns a body as a server-sent event. */
export const serverSentEvent = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`
/** The event that ends every stream of SGLang. */
export const DONE = 'data: [DONE]\n\n'
