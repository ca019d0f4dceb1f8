/**
 * Opens the records of a large file one after the other in a single pass, with the bytes of each, so that a record can be read
 * again alone. Memory depends on the largest record. The consumer decides when the next record is read, and may pause.
 */

import { parseLongLists } from '#lib/json/long-lists.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { type ByteSource, rangeOf } from '../containers/container.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf } from '../registry.ts'
import { BEGINNING, beginningOf, fileTypeOf } from './file-type.ts'
import { containerIn, parseRecord, recordValues } from './open.ts'
import { type OpenedRecord, openRecord } from './open-each.ts'
import { createRecordFinder, type RecordBytes } from './record-finder.ts'
import { type FileProblem, type FoundRecord, fileProblem } from './records.ts'

/** A record of the file with its trajectories or its problems. */
export interface IndexedRecord {
  readonly record: Pick<RecordBytes, 'start' | 'end' | 'line' | 'item'>
  /** True if the record is a line of several, or in such a line. */
  readonly isLine: boolean
  readonly opened: readonly OpenedRecord[]
}

/** How the records of a file are found. */
export type RecordLayout =
  /** The file must be read as a whole, or is refused: no record opens alone, or all belong together. */
  | 'whole'
  /** The first line shows where the records end. */
  | 'found'
  /** Each line is a record, although the first one is broken. */
  | 'lines'

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
  const beginning = beginningOf(await bytes.read(0, Math.min(BEGINNING, bytes.size)))
  if (fileTypeOf(beginning, source.file) ?? containerIn(beginning)) return 'whole'
  if (await opensIn('found', bytes, source, options)) return 'found'
  return (await opensIn('lines', bytes, source, options)) ? 'lines' : 'whole'
}

/** Returns whether one of the first records opens, and is not all of the file. */
async function opensIn(
  layout: 'found' | 'lines',
  bytes: ByteSource,
  source: RecordSource,
  options: IndexOptions,
): Promise<boolean> {
  const records = indexRecords(bytes, source, layout, options)
  for (let tried = 0; tried < TRIED; tried++) {
    const { done, value } = await records.next()
    if (done) return false
    if (!value.opened.some(({ ok }) => ok)) continue
    return tried > 0 || value.opened.length > 1 || (await records.next()).done !== true
  }
  return false
}

/** Why an index ends: with the file, or because it has more trajectories than the limit. */
export type IndexEnd = 'end' | 'full'

/** Yields the records in file order. Arrays from `bytes` must remain unchanged. Rejects if reading rejects. */
export async function* indexRecords(
  bytes: ByteSource,
  source: RecordSource,
  layout: Exclude<RecordLayout, 'whole'>,
  { limits = LIMITS, slice = SLICE }: IndexOptions = {},
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
      yield { record: { start, end, line, item }, isLine, opened }
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
  return values.flatMap((value) => {
    const format = formatOf(value.value)
    return format?.joins ? [joinedRecord(value, format)] : openRecord(value, format, source, limits)
  })
}

function joinedRecord({ value: _, ...place }: FoundRecord, { label }: Format): OpenedRecord {
  const error = { path: '', expected: 'a record that opens alone', found: `one of ${label}` }
  return { ok: false, place, error: fileProblem(place, error, 'Write such records to a file of their own.') }
}

async function valuesOf(
  record: RecordBytes,
  isLine: boolean,
  { bytes, piece, at }: RecordContext,
): Promise<FoundRecord[] | FileProblem> {
  const { start, end, failure, hasLongList } = record
  if (failure) return parseRecord(record, piece.subarray(0, 0), isLine)
  if (start >= at) return parseRecord(record, piece.subarray(start - at, end - at), isLine)
  const long =
    hasLongList && end - start > piece.length
      ? await parseLongLists(rangeOf(bytes, record.start, record.end))
      : undefined
  return long ? recordValues(record, long.value, isLine) : parseRecord(record, await bytes.read(start, end), isLine)
}
