import type { StreamClosed } from '#lib/api/stream-closed.ts'

/** A reader that takes nothing for this long is too slow. Longer than any page or script stops for by itself. */
export const STALLED_MS = 30_000

/** A stream of values as lines of JSON. When the reader leaves, the iteration ends. */
export function ndjson(values: AsyncIterable<unknown>, headers: Readonly<Record<string, string>> = {}): Response {
  return streamOf(linesOf(values), headers)
}

interface EventStreamOptions {
  /** Number of the first line. */
  readonly from: number
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the reader is too slow, before the iteration ends. */
  readonly onStalled?: () => void
}

/**
 * A stream of numbered lines. A reader that takes nothing for 30 s is left: what was written for it stays, then comes a last
 * line, StreamClosed, that says why and where to go on. So a reader never costs more than what is on its way to it.
 */
export function eventStream(
  lines: AsyncIterable<Uint8Array>,
  { from, headers = {}, onStalled = () => {} }: EventStreamOptions,
): Response {
  return streamOf(lines, headers, (taken) => {
    onStalled()
    const next = from + taken
    return lineOf({
      type: 'stream-closed',
      code: 'READER_TOO_SLOW',
      message: `nothing was read from this stream for ${STALLED_MS / 1000} s. Follow it again with ?from=${next}.`,
      next,
    } satisfies StreamClosed)
  })
}

export const lineOf = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

async function* linesOf(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const value of values) yield lineOf(value)
}

/** `lastLine`: of a stream whose reader is too slow, after so many lines. Omitted: such a reader is waited for. */
function streamOf(
  lines: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  lastLine?: (taken: number) => Uint8Array,
): Response {
  const iterator = lines[Symbol.asyncIterator]()
  let taken = 0
  let patience: ReturnType<typeof setTimeout> | undefined
  const stream = new ReadableStream<Uint8Array>({
    // Called when the reader has taken all that was enqueued.
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
