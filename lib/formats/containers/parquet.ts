/**
 * Reads Parquet files row by row. Columns are decoded page by page, so memory depends on the pages and not on the groups of rows, and a
 * row can be read again alone. Sizes in the file are compared with limits before they are used.
 */
import { gunzipSync } from 'fflate'
import { decompress } from 'fzstd'
import { parquetMetadataAsync, parquetSchema, type RowGroup, type SchemaTree } from 'hyparquet'
import { assembleNested } from 'hyparquet/src/assemble.js'
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js'
import { getTreePath } from 'hyparquet/src/schema.js'
import { elementAt } from '#lib/util/element-at.ts'
import { errorText } from '#lib/util/text/error-text.ts'
import {
  type Budget,
  type ByteSource,
  ContainerError,
  copyOf,
  type OpenTable,
  type ReadContainer,
  type Row,
  type RowBatch,
  type TablePlace,
} from './container.ts'
import { jsonRow } from './json-value.ts'
import { broken, createColumnCursor, type ParquetColumn } from './parquet-pages.ts'
import { decompressSnappy } from './snappy.ts'
import { createFrameChecks } from './zstd-frames.ts'

/** A row has several columns, and empty rows take few bytes. */
const MOST_ROWS_A_BYTE = 4096
const LARGEST_FOOTER = 64 * 2 ** 20
/** Rows of a batch, so that a row is found again by decoding few rows before it. */
const MOST_ROWS = 256

/** Returns a function that refuses a codec by its name. */
const refuse = (codec: string) => (): never => {
  throw new ContainerError(
    `a Parquet file without ${codec}`,
    `one with ${codec}`,
    "Write it again: `pandas.read_parquet(file).to_parquet(file, compression='zstd')`.",
  )
}

/**
 * The decompressors of pages. Each writes to a buffer of the known size. The usual package of them never ends for some damaged Snappy data, refuses LZ4 of pyarrow, and needs WebAssembly.
 */
const CODECS = {
  GZIP: (input: Uint8Array, size: number) => gunzipSync(input, { out: new Uint8Array(size) }),
  ZSTD(input: Uint8Array, size: number) {
    const checks = createFrameChecks({ keepsWindow: false })
    checks.add(input)
    // The decompressor would write each frame over the one before.
    if (checks.frames() > 1) throw broken('several Zstandard frames in a page')
    return decompress(input, new Uint8Array(size))
  },
  SNAPPY: decompressSnappy,
  BROTLI: refuse('Brotli'),
  LZ4: refuse('LZ4'),
  LZ4_RAW: refuse('LZ4'),
}

/** Yields the rows of the file. */
export const readParquet: ReadContainer = async function* ({ bytes, budget }) {
  const { batches } = await openParquet(bytes, budget)
  yield { kind: 'rows', name: undefined, rows: rowsOf() }

  async function* rowsOf(): AsyncGenerator<Row> {
    for await (const { rows } of batches()) yield* rows
  }
}

/** Opens the file as a table whose rows can be read from any of them. */
export const openParquet: OpenTable = async (source, budget) => {
  const bytes = withMarkedErrors(source)
  const { groups, schema } = await orBroken('the footer', async () => {
    await checkFooter(bytes)
    const metadata = await parquetMetadataAsync(asyncBufferOf(bytes))
    return { groups: metadata.row_groups, schema: parquetSchema(metadata) }
  })
  return {
    rowCount: groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0),
    async *batches(from) {
      let first = 0
      for (const [index, group] of groups.entries()) {
        const count = Number(group.num_rows)
        if (index >= (from?.group ?? 0)) {
          const place = from?.group === index ? from : { group: index, first, row: 0, pages: undefined }
          yield* batchesOf(group, schema, place, { bytes, budget })
        }
        first += count
      }
    },
  }
}

/** The place at which a group is read. `pages` is undefined at its beginning. */
type GroupPlace = Omit<TablePlace, 'pages'> & { readonly pages: TablePlace['pages'] | undefined }

interface TableContext {
  readonly bytes: ByteSource
  readonly budget: Budget
}

async function* batchesOf(
  group: RowGroup,
  schema: SchemaTree,
  from: GroupPlace,
  context: TableContext,
): AsyncGenerator<RowBatch> {
  const count = Number(group.num_rows)
  const where = `row group ${from.group + 1}`
  const columns = await orBroken(where, async () => columnsOf(group, schema, context.bytes))
  const cursors = columns.map((column, index) => createColumnCursor(column, context, from.pages?.[index]))
  const paths = columns.map(({ meta }) => meta.path_in_schema.join('.'))
  for (let { row, first } = from; row < count; ) {
    // One column after the other: if several fail at once, all but one rejection would be without a handler.
    for (const [index, cursor] of cursors.entries())
      while (cursor.whole() === 0)
        if (!(await orBroken(`column ${paths[index]} of ${where}`, cursor.advance)) && cursor.whole() === 0)
          throw broken(`${row} rows in column ${paths[index]} of a group with ${count}`)
    const rows = Math.min(MOST_ROWS, count - row, ...cursors.map((cursor) => cursor.whole()))
    const pages = cursors.map((cursor) => cursor.place())
    const taken = new Map(cursors.map((cursor, index) => [elementAt(paths, index), cursor.take(rows)]))
    const values = await orBroken(where, async () => assembled(taken, schema))
    yield { place: { group: from.group, row, first, pages }, rows: rowsIn(values, rows) }
    row += rows
    first += rows
  }
  if (cursors.some((cursor) => cursor.whole() > 0)) throw broken(`more rows in a column than the ${count} of its group`)
}

/** Returns the values of each column of the table, by its name. */
function assembled(
  taken: Map<string, unknown[]>,
  { children }: SchemaTree,
): readonly (readonly [name: string, values: ArrayLike<unknown>])[] {
  return children.map((child) => {
    if (child.children.length > 0) assembleNested(taken, child, DEFAULT_PARSERS)
    const { name } = child.element
    const values = taken.get(name)
    if (!values) throw broken(`no values of the column ${name}`)
    return [name, values]
  })
}

function* rowsIn(columns: ReturnType<typeof assembled>, count: number): Generator<Row> {
  for (let row = 0; row < count; row++)
    yield jsonRow(Object.fromEntries(columns.map(([name, values]) => [name, values[row]])))
}

/** Returns the columns of a group after a comparison of their sizes with those of the file. */
function columnsOf(group: RowGroup, schema: SchemaTree, bytes: ByteSource): readonly ParquetColumn[] {
  const size = group.columns.reduce((sum, { meta_data: meta }) => sum + Number(meta?.total_compressed_size ?? 0), 0)
  if (Number(group.num_rows) > size * MOST_ROWS_A_BYTE) throw broken('more rows than its bytes have')
  return group.columns.map(({ meta_data: meta, file_path }) => {
    if (file_path !== undefined)
      throw new ContainerError(
        'a Parquet file with its own data',
        'columns in another file',
        'Write all columns to one file.',
      )
    if (!meta) throw broken('a column without its description')
    const known = Number(meta.num_values)
    // A row has at least one value in each column, which may be the mark of an empty list.
    if (!(known >= 0 && Number(group.num_rows) >= 0 && Number(group.num_rows) <= known))
      throw broken('more rows than values')
    const start = Number(meta.dictionary_page_offset ?? meta.data_page_offset)
    const end = start + Number(meta.total_compressed_size)
    if (!(start >= 4 && end >= start && end <= bytes.size)) throw broken('a column beyond its end')
    const schemaPath = getTreePath(schema, meta.path_in_schema)
    const { element } = elementAt(schemaPath, schemaPath.length - 1)
    const { type, codec, path_in_schema: pathInSchema } = meta
    const parsers = DEFAULT_PARSERS
    return {
      meta,
      start,
      end,
      decoder: { pathInSchema, type, element, schemaPath, codec, parsers, compressors: CODECS },
    }
  })
}

/** The library keeps what it reads, and other sources reuse their buffer. */
const asyncBufferOf = ({ size, read }: ByteSource) => ({
  byteLength: size,
  slice: async (start: number, end = size): Promise<ArrayBuffer> =>
    copyOf(await read(Math.min(start, size), Math.min(end, size))).buffer,
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

/** Runs a step of the library, whose errors are those of the file at this place. Errors of reading the bytes are not. */
async function orBroken<T>(where: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof ReadFailure) throw error.cause
    throw error instanceof ContainerError ? error : broken(unreadableBytes(where, error))
  }
}

/** Names the place of bytes that the library cannot read, with its reason. Errors of JavaScript itself give none. */
function unreadableBytes(where: string, error: unknown): string {
  const isOfJavaScript = [TypeError, RangeError, SyntaxError].some((type) => error instanceof type)
  return `unreadable bytes in ${where}${isOfJavaScript ? '' : ` (${errorText(error)})`}`
}

class ReadFailure extends Error {
  override readonly name = 'ReadFailure'
}

/** Returns the same bytes, whose errors are distinguished from those of the library. */
const withMarkedErrors = ({ size, read }: ByteSource): ByteSource => ({
  size,
  read: (start, end) =>
    read(start, end).catch((cause: unknown) => {
      throw new ReadFailure('the bytes cannot be read', { cause })
    }),
})
