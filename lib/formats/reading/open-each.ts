/**
 * Reads the trajectories of a file one after the other: JSON lines need only the memory of the longest line. Each
 * record opens or fails separately. A value that spans several lines is kept in memory.
 */

import { parsePythonJson } from '#lib/json/python-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import { type ByteSource, ContainerError, piecesOf, type Row, type UnpackTools } from '../containers/container.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf } from '../registry.ts'
import { BEGINNING, fileTypeOf } from './file-type.ts'
import { containerIn, isReported } from './open.ts'
import { containerProblem, type FilePart, partsOf } from './parts.ts'
import { recordTooLong } from './record-finder.ts'
import {
  type FileProblem,
  type FoundRecord,
  fileProblem,
  notJson,
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
  | { readonly ok: false; readonly place: RecordPosition; readonly error: FileProblem }

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
  if (part.kind === 'json') yield* openEach(textOf(part.bytes, onBytes), source, limits)
  else if (part.kind === 'rows') yield* openFound(recordsOfRows(part.rows), source, limits)
  else yield { ok: false, place: {}, error: part.problem }
}

async function* textOf(bytes: ByteSource, onBytes: (count: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let read = 0
  for await (const piece of piecesOf(bytes)) {
    read += piece.length
    onBytes(read)
    yield decoder.decode(piece, { stream: true })
  }
  yield decoder.decode()
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
    yield { ok: false, place: { row }, error: containerProblem(error) }
  }
}

/** Reads all records; `chunks` are the file's text in any division. Rejects if reading them rejects. */
export async function* openEach(
  chunks: AsyncIterable<string>,
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
  chunks: AsyncIterable<string>,
  { file }: RecordSource,
  limits: Limits,
): AsyncGenerator<Found> {
  const text = chunks[Symbol.asyncIterator]()
  try {
    const beginning = await beginningIn(text)
    const type = fileTypeOf(beginning, file) ?? containerIn(beginning)
    if (type) yield { ok: false, place: {}, error: otherType(type) }
    else yield* recordsInText(linesOf(beginning, text, limits.recordBytes), limits)
  } finally {
    await text.return?.()
  }
}

/** Reads enough text to recognise the file type. */
async function beginningIn(text: AsyncIterator<string>): Promise<string> {
  let beginning = ''
  while (beginning.length < BEGINNING && !beginning.includes('\n')) {
    const next = await text.next()
    if (next.done) break
    beginning += next.value
  }
  return beginning
}

/** In `lines`, undefined is a line that is too long. */
async function* recordsInText(lines: AsyncIterable<string | undefined>, limits: Limits): AsyncGenerator<Found> {
  /** All lines of a value that spans several. */
  let spread: string[] | undefined
  let spreadLength = 0
  let isFirst = true
  let line = 0
  for await (const text of lines) {
    line++
    if (text === undefined) {
      yield tooLong({ line }, limits)
      isFirst = false
      continue
    }
    const content = isFirst ? withoutByteOrderMark(text) : text
    if (spread) {
      spread.push(content)
      spreadLength += content.length
      if (spreadLength > limits.recordBytes) return yield tooLong({}, limits)
    } else if (content.trim() !== '') {
      const found = recordsInLine(content, line)
      if (isFirst && found.some(isFailed) && isContinued(content)) spread = [...Array(line - 1).fill(''), content]
      else yield* found
      isFirst = false
    }
  }
  if (spread) yield* recordsInLines(spread)
}

function tooLong(place: RecordPosition, limits: Limits): Failed {
  const [error, hint] = recordTooLong(limits)
  return { ok: false, place, error: fileProblem(place, error, hint) }
}

/** Returns whether a first line that is not JSON is the beginning of a value, and not a truncated line. */
const isContinued = (line: string): boolean => /^\s*\[|[[{,:]\s*$/.test(line)

function recordsInLine(text: string, line: number): readonly Found[] {
  try {
    return recordsIn(parsePythonJson(text), { line })
  } catch {
    return [{ ok: false, place: { line }, error: fileProblem({ line }, notJson(text)) }]
  }
}

/** Returns the records of one value, or of each line if the lines are not one value. */
function recordsInLines(lines: readonly string[]): readonly Found[] {
  const whole = lines.join('\n')
  try {
    return recordsIn(parsePythonJson(whole), {})
  } catch {
    const each = lines.flatMap((text, index) => (text.trim() === '' ? [] : recordsInLine(text, index + 1)))
    const isOfLines = each.some((found) => !isFailed(found) && formatOf(found.value) !== undefined)
    return isOfLines ? each : [{ ok: false, place: {}, error: fileProblem({}, notJson(whole)) }]
  }
}

/** Searches only new text, so a long line is joined once. A line with more than `longest` characters is dropped. */
async function* linesOf(
  beginning: string,
  rest: AsyncIterator<string>,
  longest: number,
): AsyncGenerator<string | undefined> {
  let parts: string[] = []
  let length = 0
  const add = (part: string) => {
    length += part.length
    if (length > longest) parts = []
    else parts.push(part)
  }
  const line = (): string | undefined => {
    const whole = length > longest ? undefined : parts.join('')
    parts = []
    length = 0
    return whole
  }
  for (let chunk: string | undefined = beginning; chunk !== undefined; chunk = await nextOf(rest)) {
    let start = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      add(chunk.slice(start, end))
      yield line()
      start = end + 1
    }
    add(chunk.slice(start))
  }
  yield line()
}

async function nextOf(chunks: AsyncIterator<string>): Promise<string | undefined> {
  const next = await chunks.next()
  return next.done ? undefined : next.value
}
