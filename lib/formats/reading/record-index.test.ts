import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import type { ByteSource } from '../containers/container.ts'
import { indexRecords, recordLayout } from './record-index.ts'
import { mayHaveSeveralRecords } from './several-records.ts'

const sample = (...ids: readonly number[]) => JSON.stringify({ token_ids: ids })
const BROKEN = '{"token_ids": [1,'
const SOURCE = { file: 'step.jsonl', now: '2026-01-02T03:04:05.000Z', newId: () => '' }

/** Returns the bytes of a text, whose reads are counted. */
function source(text: string): ByteSource & { readonly reads: string[] } {
  const bytes = new TextEncoder().encode(text)
  const reads: string[] = []
  return {
    reads,
    size: bytes.length,
    async read(start, end) {
      reads.push(`${start}-${end}`)
      return bytes.slice(start, end)
    },
  }
}

interface Options {
  readonly slice?: number
  readonly limits?: Limits
  readonly layout?: 'found' | 'lines'
}

/** Returns a line for each row: its bytes as text, its place, and its ids or its problem. */
async function rowsIn(text: string, { slice = 7, limits = LIMITS, layout = 'found' }: Options = {}) {
  const bytes = new TextEncoder().encode(text)
  const rows: string[] = []
  const records = indexRecords(source(text), SOURCE, layout, { slice, limits })
  for (;;) {
    const { done, value } = await records.next()
    if (done) return [...rows, value]
    const { start, end, line, item } = value.record
    const place = [value.isLine && line, item !== undefined && `[${item}]`].filter(Boolean).join('')
    for (const one of value.opened) {
      const what = one.ok ? one.trajectory.segments.flatMap(({ ids }) => ids).join() : one.error.message
      rows.push(`${place} ${new TextDecoder().decode(bytes.subarray(start, end)).trim()} → ${what}`)
    }
  }
}

test('An index has the bytes, the line and the trajectory of each line', async () => {
  expect(await rowsIn(`${sample(1, 2)}\n\n${sample(3)}\n`)).toEqual([
    '1 {"token_ids":[1,2]} → 1,2',
    '3 {"token_ids":[3]} → 3',
    'end',
  ])
})

test('An index has the elements of a list over several lines, and of a list in each line', async () => {
  expect(await rowsIn(`[\n${sample(1)},\n${sample(2)}\n]`)).toEqual([
    '[0] {"token_ids":[1]} → 1',
    '[1] {"token_ids":[2]} → 2',
    'end',
  ])
  expect((await rowsIn(`[${sample(1)}]\n[${sample(2)},${sample(3)}]`)).map((row) => row.split(' ')[0])).toEqual([
    '[0]',
    '2[0]',
    '2[1]',
    'end',
  ])
})

test('A record with several trajectories has a row for each', async () => {
  const dump = JSON.stringify({
    rollout_id: 1,
    samples: [
      { tokens: [1], response_length: 1 },
      { tokens: [2], response_length: 1 },
    ],
  })
  expect(await rowsIn(`${dump}\n${dump}`, { slice: 1000 })).toHaveLength(5)
})

test('A broken record costs one row, which names its line', async () => {
  const rows = await rowsIn([sample(1), BROKEN, '{"hello": 1}', sample(2)].join('\n'))
  expect(rows[1]).toMatch(/^2 .* → line 2: expected JSON/)
  expect(rows[2]).toMatch(/^3 .* → line 3: expected a trajectory/)
  expect(rows[3]).toBe('4 {"token_ids":[2]} → 2')
})

test('A record that exceeds a limit costs one row, and its bytes are not read again', async () => {
  const long = sample(...Array.from({ length: 30 }, (_, index) => index))
  const rows = await rowsIn([sample(1), long, sample(2)].join('\n'), { limits: { ...LIMITS, recordBytes: 40 } })
  expect(rows[1]).toContain('expected a record of at most 40 bytes')
  expect(rows[2]).toBe('3 {"token_ids":[2]} → 2')
})

test('An index ends at the largest number of trajectories', async () => {
  const rows = await rowsIn([1, 2, 3, 4].map((id) => sample(id)).join('\n'), { limits: { ...LIMITS, records: 2 } })
  expect(rows).toHaveLength(3)
  expect(rows[2]).toBe('full')
})

test('A record with a long list that exceeds a slice is read in parts, with the same trajectory', async () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => 10_000 + index)
  const bytes = source(`${sample(1)}\n${sample(...ids)}\n`)
  const records = indexRecords(bytes, SOURCE, 'found', { slice: 50_000 })
  await records.next()
  const { value } = await records.next()
  const [one] = typeof value === 'object' ? value.opened : []
  expect(one?.ok && one.trajectory.segments.flatMap((segment) => segment.ids)).toEqual(ids)
})

test('Any division into slices gives the same rows', async () => {
  const record = fc.oneof(
    fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }).map((ids) => sample(...ids)),
    fc.constantFrom(BROKEN, '{}', '"\\"é', '', `[${sample(1)},${sample(2)}]`),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(['', '\n', ''], ['[', ',', ']'], ['[', ',\n', ']\n']),
      fc.integer({ min: 1, max: 60 }),
      async (records, [before, between, after], slice) => {
        const text = before + records.join(between) + after
        expect(await rowsIn(text, { slice })).toEqual(await rowsIn(text, { slice: 10_000 }))
      },
    ),
  )
})

test.each([
  ['JSON lines', `${sample(1)}\n${sample(2)}`, 'found'],
  ['a list', `[${sample(1)},${sample(2)}]`, 'found'],
  [
    'one record with several trajectories',
    JSON.stringify({ samples: [1, 2].map((id) => ({ tokens: [id], response_length: 1 })) }),
    'found',
  ],
  ['JSON lines after a broken line', `${BROKEN}\n${sample(2)}\n${sample(3)}`, 'lines'],
  ['lines of another tool', '{"a": 1}\n{"a": 2}\n'.repeat(30), 'whole'],
  ['one trajectory over several lines', JSON.stringify({ token_ids: [1] }, null, 1), 'whole'],
  ['a gzip file', '\u001f\u008b', 'whole'],
  ['nothing', '', 'whole'],
])('The layout of %s', async (_what, text, layout) => {
  const bytes = text.startsWith('\u001f')
    ? { size: 3, read: async () => new Uint8Array([0x1f, 0x8b, 8]) }
    : source(text)
  expect(await recordLayout(bytes, SOURCE)).toBe(layout)
})

test.each([
  ['JSON lines', `${sample(1)}\n${sample(2)}`, true],
  ['a list in one line', `[${sample(1)},${sample(2)}]`, true],
  ['a value over several lines', '{\n"a": 1}', true],
  ['one line', `${sample(1)}\n`, false],
  ['a list with one element', `[${sample(1)}]`, false],
])('Whether %s may have several records', async (_what, text, may) => {
  expect(await mayHaveSeveralRecords(source(text))).toBe(may)
})

test('The search for a second record ends with the second record', async () => {
  const bytes = source(`${sample(1)}\n`.repeat(200_000))
  expect(await mayHaveSeveralRecords(bytes)).toBe(true)
  expect(bytes.reads).toHaveLength(1)
})
