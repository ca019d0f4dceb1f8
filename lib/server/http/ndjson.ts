import type { StreamClosed } from '#lib/api/stream-closed.ts'

/** A reader that takes nothing for this long is too slow. No page or script pauses for this long by itself. */
export const STALLED_MS = 30_000

/** Returns a stream of values as lines of JSON. The iteration ends when the reader leaves. */
export const ndjson = (values: Iterable<unknown> | AsyncIterable<unknown>): Response =>
  streamResponse(linesOf(values), {})

/** Milliseconds without a line after which an event stream gets a space, because proxies end connections on which nothing is sent. */
const KEEP_ALIVE_MS = 15_000

/** A part of an event stream that is no line. JSON may begin with it. */
const SPACE = Buffer.from(' ')

interface EventStreamOptions {
  /** Number of the first line. */
  readonly from: number
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the reader is too slow, before the iteration ends. */
  readonly onStalled?: () => void
}

/**
 * Returns a stream of numbered lines. A reader that takes nothing for 30 s gets the lines that are already queued and a last line,
 * StreamClosed, which says why and where to continue. So a slow reader costs no more memory than its queued lines. While there are no
 * lines, the next one grows by a space every 15 s.
 */
export function eventStream(
  lines: AsyncIterable<Uint8Array>,
  { from, headers = {}, onStalled = () => {} }: EventStreamOptions,
): Response {
  let next = from
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of withSpaces(lines)) {
      if (part !== SPACE) next++
      yield part
    }
  }
  return streamResponse(counted(), headers, () => {
    onStalled()
    return encodeLine({
      type: 'stream-closed',
      code: 'READER_TOO_SLOW',
      message: `the client read nothing from this stream for ${STALLED_MS / 1000} s. Request it again with ?from=${next}.`,
      next,
    } satisfies StreamClosed)
  })
}

/** Yields the lines, and SPACE whenever none comes for KEEP_ALIVE_MS. */
async function* withSpaces(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]()
  let coming: Promise<IteratorResult<Uint8Array>> | undefined
  try {
    for (;;) {
      coming ??= iterator.next()
      const result = await withinMs(coming, KEEP_ALIVE_MS)
      if (result?.done) return
      if (result) coming = undefined
      yield result ? result.value : SPACE
    }
  } finally {
    await iterator.return?.()
  }
}

/** Resolves to what a promise resolves to, or to undefined if that takes longer. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms).unref()
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Returns a value as a line of JSON in UTF-8. */
export const encodeLine = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

async function* linesOf(values: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const value of values) yield encodeLine(value)
}

/**
 * Returns a stream of parts, which are lines unless the headers name another type. `lastLine` ends a stream whose reader is too slow;
 * without it, the stream waits for its reader.
 */
export function streamResponse(
  lines: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  lastLine?: () => Uint8Array,
): Response {
  const iterator = lines[Symbol.asyncIterator]()
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
      if (!lastLine) return
      patience = setTimeout(() => {
        controller.enqueue(lastLine())
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
