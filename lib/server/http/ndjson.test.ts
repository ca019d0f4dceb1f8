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
  const patient = readerOf(eventStream(late(), { from: 0 }))
  const waiting = patient.read()
  await settled()
  vi.advanceTimersByTime(10 * STALLED_MS)
  expect(new TextDecoder().decode((await waiting).value)).toBe(' ')
  written.resolve()
  expect(valueIn((await patient.read()).value)).toBe('late')
})

test('An event stream without lines grows by a space every 15 s, so that proxies keep it, and its lines keep their numbers', async () => {
  const written = Promise.withResolvers<void>()
  const lines = async function* () {
    yield encodeLine({ n: 0 })
    await written.promise
    yield encodeLine({ n: 1 })
    yield encodeLine({ n: 2 })
  }
  const reader = readerOf(eventStream(lines(), { from: 0 }))
  let text = new TextDecoder().decode((await reader.read()).value)
  for (let quiet = 0; quiet < 2; quiet++) {
    await settled()
    vi.advanceTimersByTime(15_000)
    text += new TextDecoder().decode((await reader.read()).value)
  }
  written.resolve()
  text += new TextDecoder().decode((await reader.read()).value)
  expect(text).toBe('{"n":0}\n  {"n":1}\n')
  await settled()
  vi.advanceTimersByTime(STALLED_MS)
  await settled()
  expect(valueIn((await reader.read()).value)).toEqual({ n: 2 })
  expect(valueIn((await reader.read()).value)).toMatchObject({ code: 'READER_TOO_SLOW', next: 3 })
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
