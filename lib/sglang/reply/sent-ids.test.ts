import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import { runs } from '#testing/property-runs.ts'
import { createSentIds } from './sent-ids.ts'

/** Returns the same JSON as JSON.stringify, with all characters outside of ASCII escaped. */
function asciiJson(value: unknown): string {
  const json = JSON.stringify(value)
  return Array.from({ length: json.length }, (_, at) => json.charCodeAt(at))
    .map((unit) => (unit < 0x80 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, '0')}`))
    .join('')
}

const list = fc.array(fc.nat({ max: 200_000 }), { maxLength: 2000 })

test('createSentIds gives the input of its ids, whatever calls have failed before', () => {
  const call = fc.record({ isAnswered: fc.boolean(), kept: fc.array(list, { maxLength: 3 }), added: list })
  const calls = fc.array(call, { maxLength: 6 })
  fc.assert(
    fc.property(calls, (drawn) => {
      const sent = createSentIds()
      const segments: { ids: number[] }[] = []
      let before: number[] | undefined
      for (const { isAnswered, kept, added } of drawn) {
        // The input of an answered call is the next segment.
        if (isAnswered && before) segments.push({ ids: before })
        before = added
        segments.push(...kept.map((ids) => ({ ids })))
        const expected = [...segments.flatMap(({ ids }) => ids), ...added]
        const { ids, bodyWith, hash } = sent.input(segments, added)
        expect(ids).toEqual(expected)
        for (const rid of ['a', 'b', 'é\u2028😀"\\\ud800'])
          expect(Buffer.from(bodyWith({ rid, stream: false })).toString()).toBe(
            asciiJson({ input_ids: expected, rid, stream: false }),
          )
        expect(hash).toBe(inputHash(expected))
      }
    }),
    { numRuns: runs(50) },
  )
})

test('ids that createSentIds handed out never change', () => {
  const sent = createSentIds()
  const { ids } = sent.input([{ ids: [1] }], [2])
  sent.input([{ ids: [1] }, { ids: [3] }], [4])
  expect(ids).toEqual([1, 2])
})

test('createSentIds continues only a trajectory that begins with the same lists of ids', () => {
  const sent = createSentIds()
  const [first, second] = [{ ids: [1] }, { ids: [2] }]
  sent.input([first, second], [3])
  expect(
    [
      [first, second],
      [first, second, { ids: [4] }],
    ].map((segments) => sent.continues(segments)),
  ).toEqual([true, true])
  expect([[], [first], [{ ids: [1] }, second], [second, first]].some((segments) => sent.continues(segments))).toBe(
    false,
  )
})
