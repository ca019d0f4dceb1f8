import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { documentedRecords } from '#testing/documented-records.ts'
import type { ByteSource } from '../containers/container.ts'
import { type IndexedRecord, indexRecords, recordLayout, rowLines } from './record-index.ts'
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
    if ('row' in value.place) throw new Error('JSON has no rows')
    const { start, end, line, item } = value.place
    const place = [line, item !== undefined && `[${item}]`].filter(Boolean).join('')
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

test('A record that belongs together with others is a row that says so', async () => {
  const chunk = { request_id: 'r', choices: [{ index: 0, token_ids: [1], finish_reason: null }] }
  const rows = await rowsIn([sample(1), JSON.stringify(chunk), sample(2)].join('\n'))
  expect(rows[1]).toMatch(/→ line 2: expected a record that opens alone, found one of streamed vLLM/)
})

test('A slice that cannot be read ends the index with its error, after the records before it', async () => {
  const text = `${sample(1)}\n${sample(2)}\n${sample(3)}\n`
  const { read, size } = source(text)
  const bytes: ByteSource = {
    size,
    read: (start, end) => (start > 0 ? Promise.reject(new Error('gone')) : read(start, end)),
  }
  const records = indexRecords(bytes, SOURCE, 'found', { slice: sample(1).length + 1 })
  expect((await records.next()).value).toMatchObject({ opened: [{ ok: true }] })
  await expect(records.next()).rejects.toThrow(/^gone$/)
})

describe('The index of a table', () => {
  const tableOf = (rows: readonly (readonly number[])[]): ByteSource => {
    const data = rows.map((ids) => JSON.stringify(ids))
    const columnData = [{ name: 'token_ids', data: data.map((text) => JSON.parse(text)), type: 'JSON' as const }]
    const file = new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 3 }))
    return { size: file.length, read: async (start, end) => file.subarray(start, end) }
  }
  const indexed = async (bytes: ByteSource, limits = LIMITS) => {
    const records = indexRecords(bytes, SOURCE, 'table', { limits })
    const found: IndexedRecord[] = []
    for (;;) {
      const { done, value } = await records.next()
      if (done) return { found, end: value }
      found.push(value)
    }
  }
  const idsOf = ({ opened }: IndexedRecord) =>
    opened.map((one) => (one.ok ? one.trajectory.segments.flatMap(({ ids }) => ids).join() : one.error.message)).join()
  const placesOf = (found: readonly IndexedRecord[]) => found.flatMap(({ place }) => ('row' in place ? [place] : []))
  const table = tableOf([[1, 2], [3], [], [4], [5, 6], [7], [8]])

  test('has a row for each record, the bytes of its progress, and a place from which any row is read again', async () => {
    const { found, end } = await indexed(table)
    expect(found.map(idsOf)).toEqual(['1,2', '3', '', '4', '5,6', '7', '8'])
    expect([end, found.at(-1)?.bytes]).toEqual(['end', table.size])
    const places = placesOf(found)
    expect(places.map(({ row }) => row)).toEqual([1, 2, 3, 4, 5, 6, 7])
    for (const [index, place] of places.entries())
      expect(await Array.fromAsync(rowLines(table, [place]))).toEqual([
        `{"token_ids":[${found[index] ? idsOf(found[index]) : ''}]}\n`,
      ])
  })

  test('reads several rows in the order of the table, each once', async () => {
    const places = placesOf((await indexed(table)).found)
    const chosen = [6, 1, 1, 4].flatMap((index) => places[index] ?? [])
    expect((await Array.fromAsync(rowLines(table, chosen))).join('')).toBe(
      '{"token_ids":[3]}\n{"token_ids":[5,6]}\n{"token_ids":[8]}\n',
    )
  })

  test('jumps to a row that is far away', async () => {
    const large = tableOf(Array.from({ length: 1500 }, (_, index) => [index]))
    const places = placesOf((await indexed(large)).found)
    const lines = await Array.fromAsync(
      rowLines(
        large,
        [places[3], places[1499]].flatMap((place) => place ?? []),
      ),
    )
    expect(lines).toEqual(['{"token_ids":[3]}\n', '{"token_ids":[1499]}\n'])
  })

  test('ends at the largest number of trajectories', async () => {
    const { found, end } = await indexed(table, { ...LIMITS, records: 2 })
    expect([found.length, end]).toEqual([2, 'full'])
  })

  test('has the reason of a row that cannot be represented, and of the damage after which nothing is read', async () => {
    const golden = JSON.parse(readFileSync('lib/formats/golden/containers.json', 'utf8'))
    const tooLarge = Buffer.from(golden.tooLarge, 'base64')
    const bytes: ByteSource = { size: tooLarge.length, read: async (start, end) => tooLarge.subarray(start, end) }
    const { found } = await indexed(bytes)
    expect(found.map(idsOf)).toEqual(['1', expect.stringMatching(/^row 2: token_ids\[0\]: expected a whole number/)])
    const { read, size } = table
    const damaged: ByteSource = {
      size,
      // The pages of the third group.
      read: async (start, end) => {
        const copy = new Uint8Array(await read(start, end))
        const at = secondHalf - start
        if (at >= 0 && at < copy.length && end < size - 8) copy.fill(0xff, at, at + 8)
        return copy
      },
    }
    const secondHalf = Number(placesOf((await indexed(table)).found)[6]?.table.pages[0]?.start)
    expect((await indexed(damaged)).found.map(idsOf).at(-1)).toMatch(/^expected a whole Parquet file, found /)
    expect(await recordLayout(damaged, SOURCE)).toBe('table')
  })

  test('is not made of a table with one row, of a damaged one, and of rows that no format recognises', async () => {
    expect(await recordLayout(table, SOURCE)).toBe('table')
    expect(await recordLayout(tableOf([[1]]), SOURCE)).toBe('whole')
    const { read, size } = table
    expect(await recordLayout({ size: size - 3, read }, SOURCE)).toBe('whole')
    const columnData = [{ name: 'other', data: [1, 2, 3], type: 'INT32' as const }]
    const file = new Uint8Array(parquetWriteBuffer({ columnData }))
    expect(await recordLayout({ size: file.length, read: async (a, b) => file.subarray(a, b) }, SOURCE)).toBe('whole')
  })

  test('is not made of a table whose first row is damaged', async () => {
    const { read, size } = table
    const damaged: ByteSource = {
      size,
      read: async (start, end) => {
        const copy = new Uint8Array(await read(start, end))
        return start === 4 ? copy.fill(0xff) : copy
      },
    }
    await expect(indexed(damaged)).rejects.toThrow('expected a whole Parquet file')
    expect(await recordLayout(damaged, SOURCE)).toBe('whole')
  })

  test('rejects if the bytes cannot be read, also after some rows', async () => {
    let isGone = false
    const going: ByteSource = {
      ...table,
      read: (start, end) => (isGone ? Promise.reject(new Error('gone')) : table.read(start, end)),
    }
    const records = indexRecords(going, SOURCE, 'table', { limits: LIMITS })
    expect((await records.next()).done).toBe(false)
    isGone = true
    const rest = async () => {
      while (!(await records.next()).done);
    }
    await expect(rest()).rejects.toThrow(/^gone$/)
    const gone: ByteSource = {
      ...table,
      read: (start, end) => (start > 0 ? Promise.reject(new Error('gone')) : table.read(start, end)),
    }
    await expect(recordLayout(gone, SOURCE)).rejects.toThrow(/^gone$/)
    await expect(indexed(gone)).rejects.toThrow(/^gone$/)
    await expect(indexed(source(`${sample(1)}`))).rejects.toThrow('the file is no table')
  })

  test('refuses a row that a changed file no longer has', async () => {
    const places = placesOf((await indexed(table)).found).slice(0, 1)
    const [place] = places
    if (!place) throw new Error('the table has rows')
    await expect(Array.fromAsync(rowLines(table, [{ ...place, row: 9 }]))).rejects.toThrow(
      'expected a row 9, found none',
    )
    const elsewhere = { ...place.table, pages: place.table.pages.map(({ start }) => ({ start, before: 99 })) }
    await expect(Array.fromAsync(rowLines(table, [{ row: 1, table: elsewhere }]))).rejects.toThrow(
      'fewer rows in a page than before',
    )
  })
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
  [
    'a stream whose last chunk looks like a whole reply',
    documentedRecords['sglang-generate-stream']?.map((chunk) => JSON.stringify(chunk)).join('\n') ?? '',
    'whole',
  ],
  ['one trajectory over several lines', JSON.stringify({ token_ids: [1] }, null, 1), 'whole'],
  ['a gzip file', '\u001f\u008b', 'whole'],
  ['nothing', '', 'whole'],
])('The layout of %s', async (_what, text, layout) => {
  const bytes = text.startsWith('\u001f')
    ? { size: 3, read: async () => new Uint8Array([0x1f, 0x8b, 8]) }
    : source(text)
  expect(await recordLayout(bytes, SOURCE)).toBe(layout)
})

test('The layout of a stream is known after its first chunk', async () => {
  const chunk = JSON.stringify({ request_id: 'r', choices: [{ index: 0, token_ids: [1], finish_reason: null }] })
  const stream = source(`${chunk}\n`.repeat(2))
  expect(await recordLayout(stream, SOURCE)).toBe('whole')
  // The beginning for the type of the file, and the first slice.
  expect(stream.reads).toHaveLength(2)
})

test('The layout of a file type that is refused is whole', async () => {
  const xz = Uint8Array.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])
  expect(await recordLayout({ size: xz.length, read: async () => xz }, SOURCE)).toBe('whole')
})

test.each([
  ['JSON lines', `${sample(1)}\n${sample(2)}`, true],
  ['a list in one line', `[${sample(1)},${sample(2)}]`, true],
  ['a value over several lines', '{\n"a": 1}', true],
  ['one line', `${sample(1)}\n`, false],
  ['a list with one element', `[${sample(1)}]`, false],
  ['a Parquet file', 'PAR1', true],
])('Whether %s may have several records', async (_what, text, may) => {
  expect(await mayHaveSeveralRecords(source(text))).toBe(may)
})

test('The search for a second record ends with the second record', async () => {
  const bytes = source(`${sample(1)}\n`.repeat(200_000))
  expect(await mayHaveSeveralRecords(bytes)).toBe(true)
  expect(bytes.reads).toHaveLength(1)
})
