/** Tests the pages of Parquet files: any row is found again, and forged sizes are refused. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js'
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'
import { describe, expect, test } from 'vitest'
import type { ByteSource, RecordTable, RowBatch, TablePlace } from './container.ts'
import { openParquet } from './parquet.ts'

const { spread, tooLong } = JSON.parse(readFileSync('lib/formats/golden/containers.json', 'utf8')) as {
  readonly spread: { readonly rows: readonly object[]; readonly file: string }
  readonly tooLong: string
}
const SPREAD = Buffer.from(spread.file, 'base64')

/** Returns the bytes as a source that reuses its buffer, whose reads are counted. */
function sourceOf(bytes: Uint8Array): ByteSource & { readonly reads: number[] } {
  const reads: number[] = []
  return {
    size: bytes.length,
    reads,
    read: async (start, end) => {
      reads.push(end - start)
      return bytes.subarray(start, end)
    },
  }
}

/** The writer has a version of the library of its own. */
type FileMetaData = Parameters<typeof writeMetadata>[1]
const footerOf = (file: ArrayBuffer) => parquetMetadata(file) as FileMetaData & { readonly metadata_length: number }

const unlimited = { count: () => {} }
const opened = (bytes: Uint8Array): Promise<RecordTable> => openParquet(sourceOf(bytes), unlimited)

async function batchesOf(table: RecordTable, from?: TablePlace): Promise<readonly RowBatch[]> {
  return (await Array.fromAsync(table.batches(from))).map(({ place, rows }) => ({ place, rows: [...rows] }))
}

const valuesOf = (batches: readonly RowBatch[]): readonly unknown[] =>
  batches.flatMap(({ rows }) => Array.from(rows, (row) => (row.ok ? row.value : row.error)))

test('A table whose lists are spread over pages has the rows that pyarrow reads, from its beginning and from any batch', async () => {
  const table = await opened(SPREAD)
  const batches = await batchesOf(table)
  expect(table.rowCount).toBe(spread.rows.length)
  expect(valuesOf(batches)).toEqual(spread.rows)
  expect(batches.length).toBeGreaterThan(10)
  for (const { place } of batches)
    expect(valuesOf(await batchesOf(table, place))).toEqual(spread.rows.slice(place.first))
})

test('Any table is read from any of its batches, whatever the sizes of its pages and groups are', async () => {
  const row = fc.record({
    id: fc.string({ maxLength: 5 }),
    ids: fc.array(fc.nat(9), { maxLength: 6 }),
    reward: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 8, max: 200 }),
      async (rows, rowGroupSize, pageSize) => {
        const file = parquetWriteBuffer({
          rowGroupSize,
          pageSize,
          columnData: [
            { name: 'id', data: rows.map(({ id }) => id), type: 'STRING' },
            { name: 'ids', data: rows.map(({ ids }) => ids), type: 'JSON' },
            { name: 'reward', data: rows.map(({ reward }) => reward), type: 'DOUBLE' },
          ],
        })
        const table = await opened(new Uint8Array(file))
        const batches = await batchesOf(table)
        expect(valuesOf(batches)).toEqual(rows)
        const { place } = batches[Math.floor(batches.length / 2)] as RowBatch
        expect(valuesOf(await batchesOf(table, place))).toEqual(rows.slice(place.first))
      },
    ),
  )
})

test('The first rows of a large group are read without the pages after them', async () => {
  const texts = Array.from({ length: 4000 }, (_, index) => `${index} ${'x'.repeat(1000)} ${index}`)
  const columnData = [{ name: 'text', data: texts, type: 'STRING' as const }]
  const file = new Uint8Array(parquetWriteBuffer({ codec: 'UNCOMPRESSED', pageSize: 100_000, columnData }))
  const bytes = sourceOf(file)
  const { value } = await (await openParquet(bytes, unlimited)).batches().next()
  expect(Array.from((value as RowBatch).rows)).not.toHaveLength(0)
  expect(file.length).toBeGreaterThan(4_000_000)
  expect(bytes.reads.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_000_000)
})

test('A row that a long page header precedes is read', async () => {
  const columnData = [{ name: 'text', data: ['a', 'b'], type: 'STRING' as const }]
  const file = new Uint8Array(parquetWriteBuffer({ columnData }))
  // The statistics of a page may have whole values, so its header may be longer than what is read at once.
  const long = withLongHeader(file)
  expect(valuesOf(await batchesOf(await opened(long)))).toEqual([{ text: 'a' }, { text: 'b' }])
})

test('A page with more values than may be in memory is refused before it is decoded', async () => {
  const columnData = [{ name: 'text', data: ['a', 'b'], type: 'STRING' as const, nullable: false }]
  const file = new Uint8Array(parquetWriteBuffer({ columnData }))
  expect(valuesOf(await batchesOf(await opened(file)))).toEqual([{ text: 'a' }, { text: 'b' }])
  const table = await opened(withLongHeader(file, 20_000_000))
  await expect(batchesOf(table)).rejects.toThrow('at most 16777216 values in a page')
})

test('A row with millions of equal values in few bytes is refused before it is whole', async () => {
  const bytes = Buffer.from(tooLong, 'base64')
  expect(bytes.length).toBeLessThan(1000)
  await expect(opened(bytes).then((table) => batchesOf(table))).rejects.toThrow('at most 4194304 values in a row')
})

test('A value that the dictionary of its column does not have is named', async () => {
  const data = Array.from({ length: 240 }, (_, row) => ['a', 'b', 'c'][row % 3])
  const file = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'id', data }], codec: 'UNCOMPRESSED' }))
  const meta = footerOf(file.buffer).row_groups[0]?.columns[0]?.meta_data
  const reader = { view: new DataView(file.buffer), offset: Number(meta?.data_page_offset) }
  const header = deserializeTCompactProtocol(reader)
  // Numbers of three values have two bits each, so these four are 3.
  file[reader.offset + Number(header.field_3) - 1] = 0xff
  await expect(opened(file).then((table) => batchesOf(table))).rejects.toThrow('value 3 of a dictionary of 3')
})

/** Returns the file of one column and page with a header of 100 kB, which has this number of values if it is given. */
function withLongHeader(file: Uint8Array<ArrayBuffer>, values?: number): Uint8Array {
  const metadata = footerOf(file.buffer)
  const meta = metadata.row_groups[0]?.columns[0]?.meta_data
  if (!meta) throw new Error('the file has a column')
  const reader = { view: new DataView(file.buffer), offset: Number(meta.data_page_offset) }
  const fields = deserializeTCompactProtocol(reader)
  const content = file.subarray(reader.offset, reader.offset + Number(fields.field_3))
  const page = 'field_8' in fields ? 'field_8' : 'field_5'
  const statistics = page === 'field_8' ? 'field_8' : 'field_5'
  const header = new ByteWriter()
  serializeTCompactProtocol(header, {
    ...fields,
    [page]: {
      ...fields[page],
      ...(values !== undefined && { field_1: values }),
      [statistics]: { field_1: new Uint8Array(100_000) },
    },
  })
  const size = BigInt(header.offset + content.length)
  if (values !== undefined) meta.num_values = BigInt(values)
  Object.assign(meta, { data_page_offset: 4n, dictionary_page_offset: undefined, total_compressed_size: size })
  return withFooter(Buffer.concat([Buffer.from('PAR1'), header.getBytes(), content]), metadata)
}

function withFooter(data: Uint8Array, metadata: FileMetaData): Uint8Array {
  const footer = new ByteWriter()
  writeMetadata(footer, metadata)
  return Buffer.concat([data, footer.getBytes(), Buffer.from('PAR1')])
}

test('A failure of reading the bytes is not a failure of the file, at its beginning and later', async () => {
  let isGone = false
  const { size, read } = sourceOf(SPREAD)
  const bytes: ByteSource = {
    size,
    read: (start, end) => (isGone ? Promise.reject(new Error('gone')) : read(start, end)),
  }
  const table = await openParquet(bytes, unlimited)
  isGone = true
  await expect(batchesOf(table)).rejects.toThrow(/^gone$/)
  await expect(openParquet(bytes, unlimited)).rejects.toThrow(/^gone$/)
})

describe('A Parquet file with a forged footer is refused:', () => {
  type Change = (metadata: FileMetaData) => void
  const column = (metadata: FileMetaData) => metadata.row_groups[0]?.columns[0]
  test.each<[string, Change, string]>([
    [
      'columns in another file',
      (metadata) => Object.assign(column(metadata) ?? {}, { file_path: 'a' }),
      'another file',
    ],
    [
      'a column without its description',
      (metadata) => Object.assign(column(metadata) ?? {}, { meta_data: undefined }),
      'a column without its description',
    ],
    ['more rows than values', (metadata) => changeGroup(metadata, { num_rows: 100_000n }), 'more rows than values'],
    [
      'more rows than pages have',
      (metadata) => {
        changeGroup(metadata, { num_rows: 13n })
        for (const { meta_data } of metadata.row_groups[0]?.columns ?? []) if (meta_data) meta_data.num_values += 1n
      },
      'of a group with 13',
    ],
    ['fewer rows than pages have', (metadata) => changeGroup(metadata, { num_rows: 3n }), 'more rows in a column'],
    ['a missing column', (metadata) => metadata.row_groups[0]?.columns.pop(), 'no values of the column reward'],
    [
      'a column beyond the end',
      (metadata) =>
        Object.assign(column(metadata)?.meta_data ?? {}, {
          data_page_offset: 1n << 40n,
          dictionary_page_offset: undefined,
        }),
      'a column beyond its end',
    ],
    [
      'more rows than bytes',
      (metadata) => {
        changeGroup(metadata, { num_rows: 1n << 40n })
        for (const { meta_data } of metadata.row_groups[0]?.columns ?? [])
          if (meta_data) meta_data.num_values = 1n << 41n
      },
      'more rows than its bytes have',
    ],
  ])('%s', async (_, change, found) => {
    await expect(opened(forged(change)).then((table) => batchesOf(table))).rejects.toThrow(found)
  })

  function changeGroup(metadata: FileMetaData, change: object) {
    Object.assign(metadata.row_groups[0] ?? {}, change)
  }

  function forged(change: Change): Uint8Array {
    const copy = SPREAD.buffer.slice(SPREAD.byteOffset, SPREAD.byteOffset + SPREAD.length)
    const metadata = footerOf(copy)
    const data = SPREAD.subarray(0, SPREAD.length - 8 - metadata.metadata_length)
    change(metadata)
    return withFooter(data, metadata)
  }
})

test('A Parquet file with a footer of more than 64 MiB is refused before it is read', async () => {
  const end = Buffer.from('\0\0\0\0PAR1')
  end.writeUInt32LE(65 << 20)
  const size = 100 << 20
  const bytes: ByteSource = { size, read: async (start) => (start === size - 8 ? end : Buffer.alloc(0)) }
  await expect(openParquet(bytes, unlimited)).rejects.toThrow('a footer of at most 64 MiB')
})
