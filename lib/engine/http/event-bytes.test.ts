import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventReader } from './event-bytes.ts'

/** Returns the data of all events as eventsource-parser reads them. */
function expected(stream: Uint8Array): string[] {
  const data: string[] = []
  createParser({ onEvent: (event) => data.push(event.data) }).feed(new TextDecoder().decode(stream))
  return data
}

function read(parts: readonly Uint8Array[]): string[] {
  const reader = createEventReader(1000)
  return parts.flatMap((part) => reader.read(part).map((data) => data.toString('utf8')))
}

/** Cuts bytes at these positions. */
const cut = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] =>
  [0, ...places.toSorted((a, b) => a - b)].map((from, index, all) => bytes.subarray(from, all[index + 1]))

const event = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('data: {"a":1}\n\n', 'data: é한😀\n\n', 'data: [DONE]\n\n', 'data: \n\n') },
  fc.constantFrom(': ping\n\n', '\n\n', '\n', 'data:x\n\n', 'data: 1\ndata: 2\n\n', 'data: 1\r\n\r\n', 'id: 4\n\n'),
  fc.constantFrom('event: e\ndata: x\n\n', '\r\n', 'data', 'data: open\n', 'other\n\n', '\ufeff'),
)

test('an event reader reads the events that eventsource-parser reads, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 12 }),
      fc.array(fc.nat({ max: 200 }), { maxLength: 6 }),
      (texts, places) => {
        const bytes = Buffer.from(texts.join(''))
        const within = places.filter((place) => place <= bytes.length)
        expect(read(cut(bytes, within))).toEqual(expected(bytes))
      },
    ),
    { numRuns: 500 },
  )
})

test.each([
  ['in the notation of SGLang', 'data: '],
  ['in another notation', 'id: 1\ndata: '],
])('an event reader refuses an event that is too long %s', (_, beginning) => {
  const reader = createEventReader(1000)
  expect(reader.read(Buffer.from(`${beginning}${'x'.repeat(900)}\n\n`))).toHaveLength(1)
  expect(() => {
    for (let part = 0; part < 3; part++) reader.read(Buffer.from(part === 0 ? beginning : 'x'.repeat(600)))
  }).toThrow('an event of the reply is larger than 1000 characters')
})
