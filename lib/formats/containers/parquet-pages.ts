/**
 * Decodes a column of a Parquet file page by page. Rows of lists may begin in one page and end in a later one. Sizes in the headers of
 * pages are compared with limits before they are used.
 */
import type { ColumnMetaData, PageHeader } from 'hyparquet'
import { assembleLists } from 'hyparquet/src/assemble.js'
import { parquetHeader, readPage } from 'hyparquet/src/column.js'
import { convert } from 'hyparquet/src/convert.js'
import { decompressPage, readDataPage } from 'hyparquet/src/datapage.js'
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from 'hyparquet/src/schema.js'
import { elementAt, uint8At } from '#lib/util/element-at.ts'
import { type Budget, type ByteSource, ContainerError, copyOf, type PagePlace } from './container.ts'
import { createLevelReader, type LevelReader } from './parquet-levels.ts'

/** Decodes the rows of one column in their order. */
export interface ColumnCursor {
  /** Number of rows that are decoded to their end and not taken. */
  whole(): number
  /** Decodes the next page. After the last page it returns false. */
  advance(): Promise<boolean>
  /** Returns the place of the next row. */
  place(): PagePlace
  /** Takes the next rows, which must be whole. */
  take(count: number): unknown[]
}

/** A column of a group of rows, and what decodes its pages. */
export interface ParquetColumn {
  readonly meta: ColumnMetaData
  readonly decoder: Parameters<typeof readPage>[2]
  /** Bytes of its pages in the file, half-open. */
  readonly start: number
  readonly end: number
}

interface CursorContext {
  readonly bytes: ByteSource
  readonly budget: Budget
}

/** Values of one row in a column. */
const MOST_IN_ROW = 2 ** 22
/** Values of a page whose encoding the library reads at once. */
const MOST_AT_ONCE = 2 ** 24
/** Values that are decoded at once. A page of a megabyte may have millions of equal ones. */
const PART = 2 ** 15
/** Bytes that are read at once: the header of a page, and often all of it. */
const WINDOW = 1 << 16

/** Returns a cursor before the first row of a column, or before the row at a place. */
export function createColumnCursor(
  { meta, decoder, start, end }: ParquetColumn,
  { bytes, budget }: CursorContext,
  from?: PagePlace,
): ColumnCursor {
  const known = Number(meta.num_values)
  const readBytes = createWindow(bytes, end)
  /** Decoded rows, of which those from `head` on are not taken. The last one may continue with the next values. */
  let rows: unknown[] = from ? [nestedList(decoder.schemaPath.length)] : []
  let head = 0
  /** Number of rows taken. After a seek, row -1 is the one that the page may continue, and row 0 the first that begins in it. */
  let taken = from ? -1 : 0
  /** The pages in which rows that are not taken begin, and the first row of each. */
  let pages: { readonly start: number; readonly first: number }[] = []
  let page: PageValues | undefined
  let at = from ? from.start : start
  let values = 0
  let dictionary: Values | undefined
  let isDictionaryRead = at === start
  let isEnded = false
  /** Values of the row that is not whole. */
  let unfinished = 0

  /** Returns the header of the page at a position, and the position of its content. */
  const headerAt = async (position: number): Promise<{ readonly header: PageHeader; readonly content: number }> => {
    for (let length = WINDOW; ; length *= 16) {
      const piece = await readBytes(position, Math.min(length, end - position))
      const reader = { view: new DataView(piece.buffer, piece.byteOffset, piece.byteLength), offset: 0 }
      try {
        return { header: parquetHeader(reader), content: position + reader.offset }
      } catch (error) {
        if (length >= end - position) throw error
      }
    }
  }

  /** Reads the page at a position, whose values are returned; those of a dictionary are kept. */
  const openPage = async (position: number): Promise<PageValues | undefined> => {
    const { header, content } = await headerAt(position)
    values += checkPage(header, { left: end - content, known, values })
    budget.count(header.uncompressed_page_size, header.compressed_page_size)
    const body = (await readBytes(content, header.compressed_page_size)).subarray(0, header.compressed_page_size)
    at = content + header.compressed_page_size
    if (header.type !== 'DICTIONARY_PAGE') return pageValues(header, body, decoder, dictionary)
    const reader = { view: new DataView(body.buffer, body.byteOffset, body.byteLength), offset: 0 }
    const { data = [] } = readPage(reader, header, decoder, undefined, undefined, 0)
    dictionary = convert(data, decoder)
    return undefined
  }

  const readDictionary = async (): Promise<void> => {
    isDictionaryRead = true
    const next = at
    if ((await headerAt(start)).header.type === 'DICTIONARY_PAGE') await openPage(start)
    at = next
  }

  const whole = (): number => Math.max(0, rows.length - head - (isEnded ? 0 : 1))

  const cursor: ColumnCursor = {
    whole,
    async advance() {
      if (!isDictionaryRead) await readDictionary()
      if (!page || page.left() === 0) {
        // A column may be followed by a byte of padding.
        if (at >= end - 1) {
          isEnded = true
          return false
        }
        const position = at
        page?.release()
        page = await openPage(position)
        if (!page) return true
        pages.push({ start: position, first: taken + rows.length - head })
      }
      rows = rows.slice(head)
      head = 0
      unfinished += Math.min(PART, page.left())
      const data = page.addTo(rows)
      // Values without lists and nulls are returned without the rows before them.
      if (data !== rows) rows = rows.concat(Array.from<unknown>(data))
      if (whole() > 0) unfinished = 0
      if (unfinished > MOST_IN_ROW) throw tooManyValues(MOST_IN_ROW, 'a row')
      return true
    },
    place() {
      const current = elementAt(
        pages,
        pages.findLastIndex(({ first }) => first <= taken),
      )
      return { start: current.start, before: taken - current.first }
    },
    take(count) {
      const some = rows.slice(head, head + count)
      head += count
      taken += count
      const current = pages.findLastIndex(({ first }) => first <= taken)
      pages = pages.slice(Math.max(0, current))
      return some
    },
  }
  if (!from) return cursor
  /** The row that began before the page may end in it. The others before the place begin in it. */
  let passed = from.before + 1
  return {
    ...cursor,
    async advance() {
      if (passed === 0) return cursor.advance()
      while (passed > 0) {
        if (!(await cursor.advance()) && whole() === 0) throw broken('fewer rows in a page than before')
        passed -= cursor.take(Math.min(passed, whole())).length
      }
      return true
    },
  }
}

type Values = ReturnType<typeof convert>

/** The values of a page, from the first to the last. */
interface PageValues {
  /** Number of values that are not decoded, with marks of nulls and of empty lists. */
  left(): number
  /** Decodes some of them, and adds them to rows of which the last one may continue. Returns these rows, or only the new ones. */
  addTo(rows: unknown[]): Values
  /** Frees the decompressed bytes. Garbage collection would keep up to 60 MB of them. */
  release(): void
}

/** Returns the values of a page with data. Those of a dictionary, which may be many in few bytes, are decoded in parts. */
function pageValues(
  header: PageHeader,
  body: Uint8Array,
  decoder: ParquetColumn['decoder'],
  dictionary: Values | undefined,
): PageValues {
  const { schemaPath, codec, compressors, type, element } = decoder
  const [mostRepeated, mostDefined] = [getMaxRepetitionLevel(schemaPath), getMaxDefinitionLevel(schemaPath)]
  const { data_page_header: first, data_page_header_v2: second } = header
  const data = first ?? second
  if (!data) throw broken('a page without values')
  const { num_values, encoding } = data
  let repeated: LevelReader
  let defined: LevelReader
  let content: Uint8Array
  let decompressed = body
  if (second) {
    const repetitions = second.repetition_levels_byte_length
    const levels = repetitions + second.definition_levels_byte_length
    repeated = createLevelReader(body.subarray(0, repetitions), mostRepeated)
    defined = createLevelReader(body.subarray(repetitions, levels), mostDefined)
    const size = header.uncompressed_page_size - levels
    const rest = body.subarray(levels)
    const isPlain = second.is_compressed === false || size === 0
    decompressed = isPlain ? body : decompressPage(rest, size, codec, compressors)
    content = isPlain ? rest : decompressed
  } else {
    const plain = decompressPage(body, header.uncompressed_page_size, codec, compressors)
    decompressed = plain
    const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength)
    let offset = 0
    const levelsBefore = (most: number): LevelReader => {
      const start = offset + 4
      // Levels that can only be 0 are omitted.
      if (most > 0) offset = start + view.getUint32(offset, true)
      return createLevelReader(plain.subarray(start, offset), most)
    }
    repeated = levelsBefore(mostRepeated)
    defined = levelsBefore(mostDefined)
    content = plain.subarray(offset)
  }
  const next = dictionary && encoding.endsWith('_DICTIONARY') ? fromDictionary(content, dictionary) : atOnce()
  let left = num_values

  function atOnce(): (count: number) => Values {
    const nulls = mostDefined === 0 ? 0 : defined.copy().countOther(num_values, mostDefined)
    const present = num_values - nulls
    if (present > MOST_AT_ONCE) throw tooManyValues(MOST_AT_ONCE, 'a page')
    const plain = { type, element, schemaPath: [] }
    const page = {
      num_values: present,
      encoding,
      definition_level_encoding: encoding,
      repetition_level_encoding: encoding,
    }
    const all = convert(readDataPage(content, page, { ...decoder, ...plain }).dataPage, decoder)
    let taken = 0
    return (count) => {
      taken += count
      return all.slice(taken - count, taken)
    }
  }

  return {
    left: () => left,
    addTo(rows) {
      const count = Math.min(PART, left)
      left -= count
      const levels = repeated.next(mostRepeated > 0 ? count : 0)
      const definitions = defined.next(mostDefined > 0 ? count : 0)
      const some = definitions.reduce((sum, level) => sum + (level === mostDefined ? 1 : 0), 0)
      const hasAll = mostDefined === 0 || some === count
      return assembleLists(rows, hasAll ? [] : definitions, levels, next(hasAll ? count : some), schemaPath)
    },
    release() {
      const isOwn = decompressed.buffer !== body.buffer
      if (isOwn && decompressed.buffer instanceof ArrayBuffer && !HOLDS_BYTES.has(type)) decompressed.buffer.transfer(0)
    },
  }
}

/** Types whose values may be parts of the decompressed bytes. */
const HOLDS_BYTES: ReadonlySet<string> = new Set(['BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'])

/** Returns a function that returns the next values of a dictionary. */
function fromDictionary(content: Uint8Array, dictionary: Values): (count: number) => Values {
  const indexes = createLevelReader(content.subarray(1), 2 ** uint8At(content, 0) - 1)
  return (count) =>
    indexes.next(count).map((index) => {
      const value = dictionary[index]
      if (value === undefined) throw broken(`value ${index} of a dictionary of ${dictionary.length}`)
      return value
    })
}

/** Returns the number of values of a page. Throws ContainerError if a size in its header is impossible. */
function checkPage(
  { data_page_header, data_page_header_v2, dictionary_page_header, ...page }: PageHeader,
  column: { readonly left: number; readonly known: number; readonly values: number },
): number {
  const isWithin = (count: unknown, most: number) => Number(count) >= 0 && Number(count) <= most
  const decompressed = page.uncompressed_page_size
  if (!isWithin(page.compressed_page_size, column.left) || !(decompressed >= 0))
    throw broken('a page beyond its column')
  const values = Number((data_page_header ?? data_page_header_v2 ?? dictionary_page_header)?.num_values ?? 0)
  if (data_page_header_v2) {
    const { num_nulls, num_rows, definition_levels_byte_length, repetition_levels_byte_length } = data_page_header_v2
    const levels = Number(definition_levels_byte_length) + Number(repetition_levels_byte_length)
    if (!isWithin(num_nulls, values) || !isWithin(num_rows, values)) throw broken('a page with more rows than values')
    // The library does not end for lengths that are missing.
    if (!isWithin(definition_levels_byte_length, levels) || !isWithin(levels, decompressed))
      throw broken('a page that is shorter than its levels')
  }
  const own = dictionary_page_header ? 0 : values
  if (!isWithin(values, column.known) || column.values + own > column.known)
    throw broken('a page with more values than its column')
  return own
}

/** Returns a function that returns at least `length` bytes from a position, and keeps those that it has read beyond them. */
function createWindow(bytes: ByteSource, end: number): (at: number, length: number) => Promise<Uint8Array> {
  let from = 0
  let cachedBytes: Uint8Array = new Uint8Array()
  return async (at, length) => {
    if (at < from || at + length > from + cachedBytes.length) {
      from = at
      cachedBytes = copyOf(await bytes.read(at, Math.min(end, at + Math.max(length, WINDOW))))
    }
    return cachedBytes.subarray(at - from)
  }
}

const tooManyValues = (most: number, where: string): ContainerError =>
  new ContainerError(
    `at most ${most} values in ${where}`,
    'more',
    'Write shorter lists, or smaller groups of rows: `df.to_parquet(file, row_group_size=1000)`.',
  )

/** Returns lists in each other, which take the values of a row that began before. */
const nestedList = (depth: number): unknown[] => (depth === 0 ? [] : [nestedList(depth - 1)])

/** Returns the problem of a damaged file. */
export const broken = (found: string): ContainerError =>
  new ContainerError('a whole Parquet file', found, 'The file is cut off or damaged: write or copy it again.')
