import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { encodeLine, eventStream, ndjson, STALLED_MS } from './ndjson.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Returns lines that contain their numbers, and whether their reader has left. */
function numbered(count: number) {
  const state = { isLeft: false }
  const lines = async function* (from: number): AsyncGenerator<Uint8Array> {
    try {
      for (let n = from; n < count; n++) yield encodeLine({ n })
    } finally {
      state.isLeft = true
    }
  }
  return { lines, state }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const readerOf = (response: Response) => (response.body as ReadableStream<Uint8Array>).getReader()
const valueIn = (line: Uint8Array | undefined): unknown => JSON.parse(new TextDecoder().decode(line))

test('An event stream whose reader takes nothing for 30 s ends with a line that says why and where to continue', async () => {
  const { lines, state } = numbered(100)
  const stalls: string[] = []
  const reader = readerOf(eventStream(lines(40), { from: 40, onStalled: () => stalls.push('stalled') }))
  for (const n of [40, 41]) expect(valueIn((await reader.read()).value)).toEqual({ n })
  await settled()
  vi.advanceTimersByTime(STALLED_MS - 1)
  expect(stalls).toEqual([])
  vi.advanceTimersByTime(1)
  await settled()
  expect([stalls, state.isLeft]).toEqual([['stalled'], true])
  expect(valueIn((await reader.read()).value)).toEqual({ n: 42 })
  const last = valueIn((await reader.read()).value)
  expect(last).toEqual({
    type: 'stream-closed',
    code: 'READER_TOO_SLOW',
    message: 'the client read nothing from this stream for 30 s. Request it again with ?from=43.',
    next: 43,
  })
  expect((await reader.read()).done).toBe(true)
})

test('An event stream serves a reader that takes one line each 29 s, and one that waits long for lines, completely', async () => {
  const { lines } = numbered(4)
  const reader = readerOf(eventStream(lines(0), { from: 0 }))
  for (let n = 0; n < 4; n++) {
    await settled()
    vi.advanceTimersByTime(STALLED_MS - 1000)
    expect(valueIn((await reader.read()).value)).toEqual({ n })
  }
  expect((await reader.read()).done).toBe(true)

  const written = Promise.withResolvers<void>()
  const late = async function* () {
    await written.promise
    yield encodeLine('late')
  }
  const waiting = readerOf(eventStream(late(), { from: 0 })).read()
  await settled()
  vi.advanceTimersByTime(10 * STALLED_MS)
  written.resolve()
  expect(valueIn((await waiting).value)).toBe('late')
})

test('An event stream whose reader leaves ends its lines and leaves no timer', async () => {
  const { lines, state } = numbered(100)
  const reader = readerOf(eventStream(lines(0), { from: 0 }))
  await reader.read()
  await settled()
  await reader.cancel()
  expect([state.isLeft, vi.getTimerCount()]).toEqual([true, 0])
})

test('A stream of lines without numbers waits for a slow reader', async () => {
  const values = async function* () {
    yield* [1, 2, 3]
  }
  const reader = readerOf(ndjson(values()))
  await settled()
  vi.advanceTimersByTime(10 * STALLED_MS)
  for (const value of [1, 2, 3]) expect(valueIn((await reader.read()).value)).toBe(value)
  expect((await reader.read()).done).toBe(true)
})
