import type { StreamClosed } from '#lib/api/stream-closed.ts'

/** A reader that takes nothing for this long is too slow. No page or script pauses for this long by itself. */
export const STALLED_MS = 30_000

/** Returns a stream of values as lines of JSON. The iteration ends when the reader leaves. */
export const ndjson = (values: Iterable<unknown> | AsyncIterable<unknown>): Response =>
  streamResponse(linesOf(values), {})

interface EventStreamOptions {
  /** Number of the first line. */
  readonly from: number
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the reader is too slow, before the iteration ends. */
  readonly onStalled?: () => void
}

/**
 * Returns a stream of numbered lines. A reader that takes nothing for 30 s gets the lines that are already queued and a last line,
 * StreamClosed, which says why and where to continue. So a slow reader costs no more memory than its queued lines.
 */
export function eventStream(
  lines: AsyncIterable<Uint8Array>,
  { from, headers = {}, onStalled = () => {} }: EventStreamOptions,
): Response {
  return streamResponse(lines, headers, (taken) => {
    onStalled()
    const next = from + taken
    return encodeLine({
      type: 'stream-closed',
      code: 'READER_TOO_SLOW',
      message: `the client read nothing from this stream for ${STALLED_MS / 1000} s. Request it again with ?from=${next}.`,
      next,
    } satisfies StreamClosed)
  })
}

/** Returns a value as a line of JSON in UTF-8. */
export const encodeLine = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

async function* linesOf(values: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const value of values) yield encodeLine(value)
}

/**
 * Returns a stream of parts, which are lines unless the headers name another type. `lastLine` ends a stream whose reader is too slow, given
 * the number of parts so far; without it, the stream waits for its reader.
 */
export function streamResponse(
  lines: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  lastLine?: (taken: number) => Uint8Array,
): Response {
  const iterator = lines[Symbol.asyncIterator]()
  let taken = 0
  let patience: ReturnType<typeof setTimeout> | undefined
  const stream = new ReadableStream<Uint8Array>({
    // The stream calls this when the reader has taken all queued lines.
    async pull(controller) {
      clearTimeout(patience)
      const { done, value } = await iterator.next()
      if (done) {
        controller.close()
        return
      }
      controller.enqueue(value)
      taken++
      if (!lastLine) return
      patience = setTimeout(() => {
        controller.enqueue(lastLine(taken))
        controller.close()
        void iterator.return?.()
      }, STALLED_MS)
      patience.unref()
    },
    async cancel() {
      clearTimeout(patience)
      await iterator.return?.()
    },
  })
  return new Response(stream, {
    headers: {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
