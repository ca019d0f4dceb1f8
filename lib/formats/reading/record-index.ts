/**
 * Opens the records of a large file one after the other in a single pass, with the bytes of each, so that a record can be read
 * again alone. Memory depends on the largest record. The consumer decides when the next record is read, and may pause.
 */

import { parseLongLists } from '#lib/json/long-lists.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import {
  type ByteSource,
  byteRange,
  ContainerError,
  createBudget,
  type RecordTable,
  type Row,
  type TablePlace,
} from '../containers/container.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf } from '../registry.ts'
import { BEGINNING, decodedBeginning, fileTypeOf } from './file-type.ts'
import { parseRecord, recordValues } from './open.ts'
import { type OpenedRecord, openRecord } from './open-each.ts'
import { containerOf, containerProblem } from './parts.ts'
import { createRecordFinder, type RecordBytes } from './record-finder.ts'
import { type FileProblem, type FoundRecord, fileProblem, recordsIn } from './records.ts'

/** A record of the file with its trajectories or its problems. */
export interface IndexedRecord {
  readonly place: RecordPlace
  /** Bytes of the file up to the end of the record. Of a table: its part of the bytes. */
  readonly bytes: number
  readonly opened: readonly OpenedRecord[]
}

/** Where a record can be read again. */
export type RecordPlace = BytesPlace | RowPlace

/** The bytes of a record in a file of JSON. */
export interface BytesPlace extends Pick<RecordBytes, 'start' | 'end' | 'item'> {
  /** Line of the record, from 1; undefined if the file does not consist of lines. */
  readonly line: number | undefined
}

/** A row of a table. */
export interface RowPlace {
  /** From 1. */
  readonly row: number
  /** The place of some row before it, or of the row itself. */
  readonly table: TablePlace
}

/** How the records of a file are found. */
export type RecordLayout =
  /** The file must be read as a whole, or is refused: no record opens alone, or all belong together. */
  | 'whole'
  /** The first line shows where the records end. */
  | 'found'
  /** Each line is a record, although the first one is broken. */
  | 'lines'
  /** Each row of a table is a record. */
  | 'table'

interface IndexOptions {
  readonly limits?: Limits
  /** Number of bytes that are read at once. */
  readonly slice?: number
}

/** Larger slices make reading no faster and need more memory. */
const SLICE = 2 * 2 ** 20

/** Records that are tried to find the layout. */
const TRIED = 20

/** Returns how the records of a file are found. Reads only its beginning if records there open. Rejects if reading rejects. */
export async function recordLayout(
  bytes: ByteSource,
  source: RecordSource,
  options: IndexOptions = {},
): Promise<RecordLayout> {
  const beginning = decodedBeginning(await bytes.read(0, Math.min(BEGINNING, bytes.size)))
  if (fileTypeOf(beginning, source.file)) return 'whole'
  const container = containerOf(beginning)
  if (container) return container.loadTable ? ((await layoutIn('table', bytes, source, options)) ?? 'whole') : 'whole'
  const layout = (await layoutIn('found', bytes, source, options)) ?? (await layoutIn('lines', bytes, source, options))
  return layout ?? 'whole'
}

/**
 * Returns the layout if one of the first records opens, and is not all of the file. Returns 'whole' if they belong together, and
 * undefined if another layout may be that of the file.
 */
async function layoutIn(
  layout: Exclude<RecordLayout, 'whole'>,
  bytes: ByteSource,
  source: RecordSource,
  options: IndexOptions,
): Promise<RecordLayout | undefined> {
  const records = indexRecords(bytes, source, layout, options)
  try {
    for (let tried = 0; tried < TRIED; tried++) {
      const { done, value } = await records.next()
      if (done) return undefined
      if (value.opened.some(isOfJoined)) return 'whole'
      if (!value.opened.some(({ ok }) => ok)) continue
      const isOneOfSeveral = tried > 0 || value.opened.length > 1 || (await records.next()).done !== true
      return isOneOfSeveral ? layout : undefined
    }
  } catch (error) {
    // A damaged table is refused as a whole.
    if (!(error instanceof ContainerError)) throw error
  }
  return undefined
}

/** Why an index ends: with the file, or because it has more trajectories than the limit. */
export type IndexEnd = 'end' | 'full'

/** Yields the records in file order. Arrays from `bytes` must remain unchanged. Rejects if reading rejects. */
export function indexRecords(
  bytes: ByteSource,
  source: RecordSource,
  layout: Exclude<RecordLayout, 'whole'>,
  { limits = LIMITS, slice = SLICE }: IndexOptions = {},
): AsyncGenerator<IndexedRecord, IndexEnd> {
  return layout === 'table' ? indexRows(bytes, source, limits) : indexJson(bytes, source, layout, { limits, slice })
}

/** Rows are read one after the other, so their size together is unlimited. */
async function openTable(bytes: ByteSource, limits: Limits): Promise<RecordTable> {
  const beginning = decodedBeginning(await bytes.read(0, Math.min(BEGINNING, bytes.size)))
  const open = await containerOf(beginning)?.loadTable?.()
  if (!open) throw new Error('the file is no table')
  return open(bytes, createBudget({ ...limits, unpackedBytes: Number.POSITIVE_INFINITY }))
}

async function* indexRows(
  bytes: ByteSource,
  source: RecordSource,
  limits: Limits,
): AsyncGenerator<IndexedRecord, IndexEnd> {
  const table = await openTable(bytes, limits)
  let count = 0
  let row = 0
  try {
    for await (const { place, rows } of table.batches())
      for (const read of rows) {
        row++
        const opened = read.ok
          ? openedValues(recordsIn(read.value, { row }), source, limits)
          : [{ ok: false, place: { row }, error: fileProblem({ row }, read.error) } as const]
        count += opened.length
        if (count > limits.records) return 'full'
        yield { place: { row, table: place }, bytes: Math.round((bytes.size * row) / table.rowCount), opened }
      }
  } catch (error) {
    if (!(error instanceof ContainerError) || row === 0) throw error
    // The rows before the damage are listed.
    const opened = [{ ok: false, place: {}, error: containerProblem(error) }] as const
    yield { place: { row: row + 1, table: NOWHERE }, bytes: bytes.size, opened }
  }
  return 'end'
}

/** The place of rows that cannot be read. */
const NOWHERE: TablePlace = { group: 0, row: 0, first: 0, pages: [] }

/** Yields the rows at these places as lines of JSON, in the order of the table. Throws ContainerError if the table has changed. */
export async function* rowLines(
  bytes: ByteSource,
  places: readonly RowPlace[],
  { limits = LIMITS }: Pick<IndexOptions, 'limits'> = {},
): AsyncGenerator<string> {
  const table = await openTable(bytes, limits)
  let rows: AsyncGenerator<Row> | undefined
  /** Number of rows of the table before the next one. */
  let at = 0
  const byRow = new Map(places.map((place) => [place.row, place]))
  for (const { row, table: place } of [...byRow.values()].sort((a, b) => a.row - b.row)) {
    if (!rows || place.first > at + NEAR) {
      rows = rowsFrom(table, place)
      at = place.first
    }
    let value: object | undefined
    for (; at < row; at++) {
      const next = await rows.next()
      value = !next.done && next.value.ok ? next.value.value : undefined
    }
    if (!value)
      throw new ContainerError(`a row ${row}`, 'none', 'The file was changed after it was opened: open it again.')
    yield `${JSON.stringify(value)}\n`
  }
}

/** Rows that are read and passed over, because each jump decodes a page of every column. */
const NEAR = 1000

async function* rowsFrom(table: RecordTable, place: TablePlace): AsyncGenerator<Row> {
  for await (const { rows } of table.batches(place)) yield* rows
}

/** Yields the records of a file of JSON. */
async function* indexJson(
  bytes: ByteSource,
  source: RecordSource,
  layout: 'found' | 'lines',
  { limits, slice }: Required<IndexOptions>,
): AsyncGenerator<IndexedRecord, IndexEnd> {
  const found: { readonly record: RecordBytes; readonly isLine: boolean }[] = []
  const finder = createRecordFinder(limits, layout === 'lines' || undefined, (record, isLine) => {
    found.push({ record, isLine })
  })
  let count = 0
  let next = bytes.read(0, Math.min(slice, bytes.size))
  for (let at = 0; at < bytes.size; at += slice) {
    const piece = await next
    const end = at + piece.length
    const isLast = end >= bytes.size
    if (!isLast) next = bytes.read(end, Math.min(end + slice, bytes.size))
    // The error of a slice that is read ahead is handled when the slice is awaited.
    next.catch(() => {})
    finder.push(piece)
    if (isLast) finder.end()
    for (const { record, isLine } of found.splice(0)) {
      const opened = await openedIn(record, isLine, { bytes, piece, at, source, limits })
      count += opened.length
      if (count > limits.records) return 'full'
      const { start, end, line, item } = record
      yield { place: { start, end, line: isLine ? line : undefined, item }, bytes: end, opened }
    }
  }
  return 'end'
}

interface RecordContext {
  readonly bytes: ByteSource
  /** The slice in which the record ends, and its position in the file. */
  readonly piece: Uint8Array
  readonly at: number
  readonly source: RecordSource
  readonly limits: Limits
}

/** Returns the trajectories and problems of a record. A record of a format that joins those of a file cannot be opened alone. */
async function openedIn(
  record: RecordBytes,
  isLine: boolean,
  context: RecordContext,
): Promise<readonly OpenedRecord[]> {
  const { source, limits } = context
  const values = await valuesOf(record, isLine, context)
  if ('message' in values) return [{ ok: false, place: isLine ? { line: record.line } : {}, error: values }]
  return openedValues(values, source, limits)
}

const openedValues = (values: readonly FoundRecord[], source: RecordSource, limits: Limits): readonly OpenedRecord[] =>
  values.flatMap((value) => {
    const format = formatOf(value.value)
    return format?.joins ? [joinedRecord(value, format)] : openRecord(value, format, source, limits)
  })

const OPENS_ALONE = 'a record that opens alone'

/** Returns whether a record belongs together with others. Another record of its file may look as if it opened alone, such as the last chunk of a stream. */
const isOfJoined = (record: OpenedRecord): boolean => !record.ok && record.error.expected === OPENS_ALONE

function joinedRecord({ value: _, ...place }: FoundRecord, { label }: Format): OpenedRecord {
  const error = { path: '', expected: OPENS_ALONE, found: `one of ${label}` }
  return { ok: false, place, error: fileProblem(place, error, 'Write such records to a file of their own.') }
}

async function valuesOf(
  record: RecordBytes,
  isLine: boolean,
  { bytes, piece, at }: RecordContext,
): Promise<FoundRecord[] | FileProblem> {
  const { start, end, failure, longLists } = record
  if (failure) return parseRecord(record, piece.subarray(0, 0), isLine)
  if (start >= at) return parseRecord(record, piece.subarray(start - at, end - at), isLine)
  const long =
    longLists.length > 0 && end - start > piece.length
      ? await parseLongLists(byteRange(bytes, record.start, record.end), longLists)
      : undefined
  return long ? recordValues(record, long.value, isLine) : parseRecord(record, await bytes.read(start, end), isLine)
}
