/** Tests the limit of a stream of events. Its notation is tested in event-bytes.test.ts. */
import { expect, test } from 'vitest'
import { eventsOf } from './event-stream.ts'

const LIMIT = 1000

/** Returns the events of a stream of these parts, which repeat for as long as somebody reads. */
async function eventsOfParts(parts: readonly string[], count: number): Promise<readonly string[]> {
  async function* chunks() {
    for (let turn = 0; turn < count; turn++) for (const part of parts) yield Buffer.from(part)
  }
  const reply = {
    status: 200,
    contentType: 'text/event-stream',
    wholeBytes: LIMIT,
    chunks: { [Symbol.asyncIterator]: chunks },
    bytes: () => expect.unreachable(),
    text: () => expect.unreachable(),
  }
  const events = eventsOf(
    reply,
    undefined,
    () => {},
    (data) => data.toString(),
  )
  return Array.fromAsync(events)
}

test.each([
  ['comments', [': waiting\n\n']],
  ['empty lines', ['\n\n']],
  ['lines with carriage returns', [': waiting\r\n\r\n']],
  ['comments between small events', ['data: 1\n\n', `:${' '.repeat(400)}\n\n`]],
])('A stream that has no end but %s is refused as too large', async (_, parts) => {
  await expect(eventsOfParts(parts, 100_000)).rejects.toMatchObject({
    code: 'TOO_LARGE',
    message: `the stream has more than ${LIMIT} bytes beside its events`,
  })
})

test.each([
  ['many events', ['data: 1\n\n']],
  ['events with a comment, a name and an id', [': a\r\n', 'event: delta\r\nid: 1\r\ndata: 1\r\n\r\n']],
  ['large events in parts', ['data: ', '1'.repeat(450), '1'.repeat(450), '\n\n']],
])('A stream with %s is read although it is longer than the limit', async (_, parts) => {
  expect(await eventsOfParts(parts, 500)).toHaveLength(500)
})
