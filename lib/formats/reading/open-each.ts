/**
 * Reads the trajectories of a file one after the other: JSON lines need only the memory of the longest line. Each
 * record opens or fails separately. A value that spans several lines is kept in memory.
 */

import { parsePythonJson } from '#lib/json/python-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { decodeUtf8 } from '#lib/util/text/utf8.ts'
import {
  type ByteSource,
  ContainerError,
  copyOf,
  joined as joinedBytes,
  piecesOf,
  type Row,
  type UnpackTools,
} from '../containers/container.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf } from '../registry.ts'
import { BEGINNING, decodedBeginning, fileTypeOf } from './file-type.ts'
import { containerIn, isReported, parseRecord } from './open.ts'
import { containerProblem, type FilePart, partsOf } from './parts.ts'
import { createRecordFinder, type RecordBytes, recordTooLong } from './record-finder.ts'
import {
  type FileProblem,
  type FoundRecord,
  fileProblem,
  notJson,
  notUtf8,
  otherType,
  type RecordPosition,
  readJoined,
  readRecord,
  recordsIn,
  unknownFormat,
  withEntryName,
} from './records.ts'

/** An opened record, or its problem. */
export type OpenedRecord =
  | { readonly ok: true; readonly place: RecordPosition; readonly trajectory: Trajectory }
  | {
      readonly ok: false
      readonly place: RecordPosition
      readonly error: FileProblem
      /** The problem is that of the whole file, such as a damaged table. */
      readonly isOfFile?: true
    }

interface EachInOptions {
  readonly limits?: Limits
  /** What containers need. */
  readonly tools: UnpackTools
  /** Receives the number of bytes of the file that have been read so far. */
  readonly onBytes?: (count: number) => void
}

/** Reads all records of a file, also those in containers. Rejects if reading rejects. */
export async function* openEachIn(
  bytes: ByteSource,
  source: RecordSource,
  { limits = LIMITS, tools, onBytes = () => {} }: EachInOptions,
): AsyncGenerator<OpenedRecord> {
  // Records are read one by one here, so their number and their size together are unlimited.
  const unlimited = { ...limits, unpackedBytes: Number.POSITIVE_INFINITY }
  for await (const part of partsOf(bytes, source.file, { limits: unlimited, tools })) {
    const { entry } = part
    const isWhole = part.kind === 'json' && part.bytes === bytes
    const named = entry === undefined ? source : { ...source, file: [source.file, entry].filter(Boolean).join('/') }
    const waiting: OpenedRecord[] = []
    let isOpened = false
    for await (const one of openPart(part, named, limits, isWhole ? onBytes : () => {})) {
      const found = one.ok ? one : { ...one, error: withEntryName(one.error, entry) }
      isOpened ||= one.ok || isReported(one.error, entry)
      if (isOpened) yield* [...waiting.splice(0), found]
      else waiting.push(found)
    }
    if (!isWhole) onBytes(bytes.size)
  }
}

async function* openPart(
  part: FilePart,
  source: RecordSource,
  limits: Limits,
  onBytes: (count: number) => void,
): AsyncGenerator<OpenedRecord> {
  if (part.kind === 'json') yield* openEach(countedPieces(part.bytes, onBytes), source, limits)
  else if (part.kind === 'rows') yield* openFound(recordsOfRows(part.rows), source, limits)
  else yield { ok: false, place: {}, error: part.problem, ...(part.entry === undefined && { isOfFile: true }) }
}

async function* countedPieces(bytes: ByteSource, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const piece of piecesOf(bytes)) {
    read += piece.length
    onBytes(read)
    yield piece
  }
}

async function* recordsOfRows(rows: AsyncIterable<Row>): AsyncGenerator<Found> {
  let row = 0
  try {
    for await (const read of rows) {
      row++
      yield* read.ok
        ? recordsIn(read.value, { row })
        : [{ ok: false, place: { row }, error: fileProblem({ row }, read.error) } as const]
    }
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    yield { ok: false, place: { row }, error: containerProblem(error), isOfFile: true }
  }
}

/**
 * Reads all records; `chunks` are the bytes of the file in any division. A chunk may be overwritten when the next one is read. Rejects
 * if reading them rejects.
 */
export async function* openEach(
  chunks: AsyncIterable<Uint8Array>,
  source: RecordSource,
  limits = LIMITS,
): AsyncGenerator<OpenedRecord> {
  yield* openFound(recordsOf(chunks, source, limits), source, limits)
}

async function* openFound(
  all: AsyncIterable<Found>,
  source: RecordSource,
  limits: Limits,
): AsyncGenerator<OpenedRecord> {
  const joined = new Map<Format, FoundRecord[]>()
  const failed: FileProblem[] = []
  for await (const found of all) {
    // The last chunk of a stream may look like a whole reply.
    const format = isFailed(found)
      ? undefined
      : (joined.keys().find(({ sniff }) => sniff(found.value)) ?? formatOf(found.value))
    if (!isFailed(found) && format?.joins) {
      const records = joined.get(format)
      if (records) records.push(found)
      else joined.set(format, [found])
      continue
    }
    for (const one of isFailed(found) ? [found] : openRecord(found, format, source, limits)) {
      if (!one.ok && joined.size > 0) failed.push(one.error)
      yield one
    }
  }
  for (const [format, [first = { value: undefined }, ...others]] of joined) {
    const { value: _, ...place } = first
    const known = failed.length
    const read = readJoined([first, ...others], format, source, limits, failed)
    for (const error of failed.slice(known)) yield { ok: false, place, error }
    yield* read.ok ? openedAt(place, read.trajectories) : [{ ok: false, place, error: read.error } as const]
  }
}

const openedAt = (place: RecordPosition, trajectories: readonly Trajectory[]): readonly OpenedRecord[] =>
  trajectories.map((trajectory) => ({ ok: true, place, trajectory }))

type Failed = Extract<OpenedRecord, { ok: false }>
type Found = FoundRecord | Failed

const isFailed = (found: Found): found is Failed => 'error' in found

/** Opens one record in its format, which is undefined if none recognises it. */
export function openRecord(
  { value, ...place }: FoundRecord,
  format: Format | undefined,
  source: RecordSource,
  limits: Limits,
): readonly OpenedRecord[] {
  if (!format) return [{ ok: false, place, error: fileProblem(place, unknownFormat(value)) }]
  const read = readRecord({ value, ...place }, format, source, limits)
  return read.ok ? openedAt(place, read.trajectories) : [{ place, ...read }]
}

async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
  { file }: RecordSource,
  limits: Limits,
): AsyncGenerator<Found> {
  const pieces = chunks[Symbol.asyncIterator]()
  try {
    const beginning = await beginningIn(pieces)
    const text = decodedBeginning(beginning)
    const type = fileTypeOf(text, file) ?? containerIn(text)
    if (type) yield { ok: false, place: {}, error: otherType(type), isOfFile: true }
    else yield* recordsInLines(linesOf(beginning, pieces, limits), limits)
  } finally {
    await pieces.return?.()
  }
}

/** Reads enough bytes to recognise the file type. */
async function beginningIn(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let beginning: Uint8Array = new Uint8Array()
  while (beginning.length < BEGINNING && !beginning.includes(NEWLINE)) {
    const next = await pieces.next()
    if (next.done) break
    beginning = joinedBytes([beginning, next.value])
  }
  return beginning
}

/** A line of the file, or a reason why its records cannot be read. */
interface Line {
  /** Bytes that are not UTF-8 are U+FFFD. A line that is too long is empty. */
  readonly text: string
  readonly failure: LineFailure | undefined
}

type LineFailure = readonly [error: Violation, hint?: string]

async function* recordsInLines(lines: AsyncIterable<Line>, limits: Limits): AsyncGenerator<Found> {
  /** All lines of a value that spans several. */
  let spread: Line[] | undefined
  let spreadLength = 0
  let isFirst = true
  let number = 0
  for await (const line of lines) {
    number++
    if (spread) {
      spread.push(line)
      spreadLength += line.text.length
      if (spreadLength > limits.recordBytes) return yield failedAt({}, recordTooLong(limits))
    } else if (!isEmpty(line)) {
      const found = recordsInText(line, { line: number })
      if (isFirst && found.some(isFailed) && isContinued(line.text))
        spread = [...Array<Line>(number - 1).fill({ text: '', failure: undefined }), line]
      else yield* found
      isFirst = false
    }
  }
  if (spread) yield* recordsInSpread(spread)
}

const isEmpty = ({ text, failure }: Line): boolean => !failure && text.trim() === ''

const failedAt = (place: RecordPosition, [error, hint]: LineFailure): Failed => ({
  ok: false,
  place,
  error: fileProblem(place, error, hint),
})

/** Returns whether a first line that is not JSON is the beginning of a value, and not a truncated line. */
const isContinued = (line: string): boolean => /^\s*\[|[[{,:]\s*$/.test(line)

/** Returns the records of a text at a place, or its problem. */
function recordsInText({ text, failure }: Line, place: RecordPosition): readonly Found[] {
  if (failure) return [failedAt(place, failure)]
  try {
    return recordsIn(parsePythonJson(text), place)
  } catch {
    const bytes = new TextEncoder().encode(text)
    const found = recordsInBytes(bytes)
    if (found.length < 2) return [failedAt(place, [notJson(text)])]
    return found.flatMap((record) => recordsAt(place, record, bytes.subarray(record.start, record.end)))
  }
}

/** Returns the records of values that follow each other, and of a list that is cut off. */
function recordsInBytes(bytes: Uint8Array): readonly RecordBytes[] {
  const records: RecordBytes[] = []
  const finder = createRecordFinder(LIMITS, undefined, (record) => void records.push(record))
  finder.push(bytes)
  finder.end()
  return records
}

function recordsAt(place: RecordPosition, record: RecordBytes, bytes: Uint8Array): readonly Found[] {
  const read = parseRecord(record, bytes, place.line === undefined)
  if (!('message' in read)) return read.map((found) => ({ ...found, ...place }))
  return [
    {
      ok: false,
      place,
      error: fileProblem({ ...(read.line !== undefined && { line: read.line }), ...place }, read, read.hint),
    },
  ]
}

/** Returns the records of one value, or of each line if the lines are not one value. */
function recordsInSpread(lines: readonly Line[]): readonly Found[] {
  const text = lines.map((line) => line.text).join('\n')
  const whole = recordsInText({ text, failure: lines.find(({ failure }) => failure)?.failure }, {})
  if (!whole.some(isFailed)) return whole
  const each = lines.flatMap((line, index) => (isEmpty(line) ? [] : recordsInText(line, { line: index + 1 })))
  const isOfLines = each.some((found) => !isFailed(found) && formatOf(found.value) !== undefined)
  return isOfLines ? each : whole
}

/** Searches only new bytes, so a long line is joined once. A line with more bytes than a record may have is dropped. */
async function* linesOf(beginning: Uint8Array, rest: AsyncIterator<Uint8Array>, limits: Limits): AsyncGenerator<Line> {
  /** Copies of the parts of a line that ends in a later chunk. */
  let parts: Uint8Array[] = []
  let length = 0
  /** Position of the line in the file. */
  let lineStart = 0
  const isTooLong = () => length > limits.recordBytes
  const add = (part: Uint8Array) => {
    length += part.length
    if (isTooLong()) parts = []
    else parts.push(part)
  }
  const line = (): Line => {
    const [first, ...others] = parts
    const whole: Line = isTooLong()
      ? { text: '', failure: recordTooLong(limits) }
      : lineIn(first && others.length === 0 ? first : joinedBytes(parts), lineStart)
    parts = []
    lineStart += length + 1
    length = 0
    return whole
  }
  for (let chunk: Uint8Array | undefined = beginning; chunk !== undefined; chunk = await nextOf(rest)) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      yield line()
      start = end + 1
    }
    add(copyOf(chunk.subarray(start)))
  }
  yield line()
}

const NEWLINE = 10

function lineIn(bytes: Uint8Array, start: number): Line {
  const decoded = decodeUtf8(bytes)
  return decoded.ok
    ? { text: decoded.text, failure: undefined }
    : { text: new TextDecoder().decode(bytes), failure: [notUtf8(start + decoded.at)] }
}

async function nextOf(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const next = await chunks.next()
  return next.done ? undefined : next.value
}
