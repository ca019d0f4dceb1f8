/** Reads Parquet files row by row, one group of rows after the other. Sizes in the file are compared with limits before they are used. */
import { gunzipSync } from 'fflate'
import { decompress } from 'fzstd'
import { parquetMetadataAsync, parquetSchema } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { parquetReadColumn } from 'hyparquet/src/read.js'
import { type Budget, type ByteSource, ContainerError, copyOf, type ReadContainer, type Row } from './container.ts'
import { jsonRow } from './json-value.ts'

/** Values of one group of rows, over all columns. They are in memory at the same time. */
const MOST_VALUES = 50_000_000
const MOST_VALUES_A_BYTE = 4096
const LARGEST_FOOTER = 64 * 2 ** 20

/** Returns a function that refuses a codec by its name. */
const refuse = (codec: string) => (): never => {
  throw new ContainerError(
    `a Parquet file without ${codec}`,
    `one with ${codec}`,
    "Write it again: `pandas.read_parquet(file).to_parquet(file, compression='zstd')`.",
  )
}

/**
 * The decompressors of pages. Each writes to a buffer of the known size, and the library itself reads Snappy. The usual package of
 * them never ends for some damaged Snappy data, refuses LZ4 of pyarrow, and needs WebAssembly.
 */
const CODECS = {
  GZIP: (input: Uint8Array, size: number) => gunzipSync(input, { out: new Uint8Array(size) }),
  ZSTD: (input: Uint8Array, size: number) => decompress(input, new Uint8Array(size)),
  BROTLI: refuse('Brotli'),
  LZ4: refuse('LZ4'),
  LZ4_RAW: refuse('LZ4'),
}

/** Yields the rows of the file. */
export const readParquet: ReadContainer = async function* ({ bytes, budget }) {
  const file = asyncBufferOf(bytes)
  const { metadata, names } = await orBroken(async () => {
    await checkFooter(bytes)
    const found = await parquetMetadataAsync(file)
    return { metadata: found, names: parquetSchema(found).children.map(({ element }) => element.name) }
  })
  yield { kind: 'rows', name: undefined, rows: rowsOf() }

  async function* rowsOf(): AsyncGenerator<Row> {
    let start = 0
    for (const group of metadata.row_groups) {
      const count = Number(group.num_rows)
      await orBroken(() => checkGroup(bytes, group, budget))
      // One column after the other: if several fail at once, the library leaves rejections without a handler.
      const columns: (readonly [name: string, values: ArrayLike<unknown>])[] = []
      for (const name of names) {
        const options = { file, metadata, compressors: CODECS, columns: [name], rowStart: start, rowEnd: start + count }
        const values = await orBroken(() => parquetReadColumn(options))
        if (values.length !== count) throw broken(`${values.length} values in a column with ${count} rows`)
        columns.push([name, values])
      }
      for (let row = 0; row < count; row++)
        yield jsonRow(Object.fromEntries(columns.map(([name, values]) => [name, values[row]])))
      start += count
    }
  }
}

/** The library keeps what it reads, and other sources reuse their buffer. */
const asyncBufferOf = ({ size, read }: ByteSource) => ({
  byteLength: size,
  slice: async (start: number, end = size): Promise<ArrayBuffer> => {
    const from = start < 0 ? Math.max(0, size + start) : start
    return copyOf(await read(Math.min(from, size), Math.min(end, size))).buffer
  },
})

async function checkFooter(bytes: ByteSource): Promise<void> {
  const end = copyOf(await bytes.read(Math.max(0, bytes.size - 8), bytes.size))
  const magic = new TextDecoder().decode(end.subarray(4))
  if (magic === 'PARE')
    throw new ContainerError('a Parquet file without a key', 'an encrypted one', 'Decrypt it first.')
  if (bytes.size < 12 || magic !== 'PAR1') throw broken('another end than PAR1')
  const length = new DataView(end.buffer).getUint32(0, true)
  if (length > bytes.size - 12) throw broken('a footer that is longer than the file')
  if (length > LARGEST_FOOTER)
    throw new ContainerError('a footer of at most 64 MiB', 'a longer one', 'Write the file with fewer groups of rows.')
}

type Metadata = Awaited<ReturnType<typeof parquetMetadataAsync>>

/** Compares the sizes of all pages with those of the file, before anything of that size is created. */
async function checkGroup(bytes: ByteSource, group: Metadata['row_groups'][number], budget: Budget): Promise<void> {
  let values = 0
  for (const { meta_data: column, file_path } of group.columns) {
    if (file_path !== undefined)
      throw new ContainerError(
        'a Parquet file with its own data',
        'columns in another file',
        'Write all columns to one file.',
      )
    if (!column) throw broken('a column without its description')
    const known = Number(column.num_values)
    values += known
    if (!(known >= 0) || values > MOST_VALUES || Number(group.num_rows) > MOST_VALUES)
      throw new ContainerError(
        `at most ${MOST_VALUES} values in a group of rows`,
        'more',
        'Write smaller groups: `df.to_parquet(file, row_group_size=1000)`.',
      )
    // A row has at least one value in each column, which may be the mark of an empty list.
    if (!(Number(group.num_rows) >= 0 && Number(group.num_rows) <= known)) throw broken('more rows than values')
    const start = Number(column.dictionary_page_offset ?? column.data_page_offset)
    const end = start + Number(column.total_compressed_size)
    // A page has at least a header, and a list of equal values takes few bytes.
    if (known > (end - start) * MOST_VALUES_A_BYTE) throw broken('more values than its bytes have')
    if (!(start >= 4 && end >= start && end <= bytes.size)) throw broken('a column beyond its end')
    checkPages(copyOf(await bytes.read(start, end)), known, budget)
  }
}

/** Walks over the headers of the pages of a column. */
function checkPages(chunk: Uint8Array, known: number, budget: Budget): void {
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength), offset: 0 }
  let found = 0
  while (reader.offset < chunk.length - 1) {
    const page = parquetHeader(reader)
    const compressed = Number(page.compressed_page_size)
    const decompressed = Number(page.uncompressed_page_size)
    if (!(compressed >= 0 && decompressed >= 0) || reader.offset + compressed > chunk.length)
      throw broken('a page beyond its column')
    budget.count(decompressed, compressed)
    const { data_page_header, data_page_header_v2, dictionary_page_header } = page
    const values = Number((data_page_header ?? data_page_header_v2 ?? dictionary_page_header)?.num_values ?? 0)
    if (!dictionary_page_header) found += values
    if (data_page_header_v2) {
      const { num_nulls, num_rows, definition_levels_byte_length, repetition_levels_byte_length } = data_page_header_v2
      const levels = Number(definition_levels_byte_length) + Number(repetition_levels_byte_length)
      const isWithin = (count: unknown, most: number) => Number(count) >= 0 && Number(count) <= most
      if (!isWithin(num_nulls, values) || !isWithin(num_rows, values)) throw broken('a page with more rows than values')
      // The library does not end for lengths that are missing.
      if (!isWithin(definition_levels_byte_length, levels) || !isWithin(levels, decompressed))
        throw broken('a page that is shorter than its levels')
    }
    if (!(values >= 0) || found > known || values > known) throw broken('a page with more values than its column')
    reader.offset += compressed
  }
}

/** Runs a step of the library, whose errors are those of the file. */
async function orBroken<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof ContainerError) throw error
    throw broken(error instanceof Error ? error.message : String(error))
  }
}

const broken = (found: string): ContainerError =>
  new ContainerError('a whole Parquet file', found, 'The file is cut off or damaged: write or copy it again.')
