/** Answers that are streams of server-sent events. */

export function eventStream(events: AsyncGenerator<string>, onCancel: () => void): Response {
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
  // Servers in front must not compress it: that would hold events back until there is enough of them.
  'cache-control': 'no-cache, no-transform',
}

export const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`
export const DONE = 'data: [DONE]\n\n'
