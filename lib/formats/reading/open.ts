/**
 * Opens a file of any format: one JSON value, JSON lines, a list, or a dump with a list of samples. A wrong record costs
 * only itself. Records are found and counted first and then read one after the other, so memory depends on the largest
 * record, not on the file.
 */

import { parseLongLists } from '#lib/json/long-lists.ts'
import { parseShallowJson } from '#lib/json/python-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { compareNames } from '#lib/util/text/file-names.ts'
import { decodeUtf8 } from '#lib/util/text/utf8.ts'
import {
  BudgetError,
  type ByteSource,
  byteRange,
  CHUNK,
  ContainerError,
  memoryTools,
  type Row,
  type UnpackTools,
} from '../containers/container.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf, isOfFormat } from '../registry.ts'
import { type FileType, fileTypeOf } from './file-type.ts'
import { containerOf, containerProblem, type FilePart, partsOf } from './parts.ts'
import { createRecordFinder, joinedTooLong, type RecordBytes, tooManyRecords } from './record-finder.ts'
import {
  type FileProblem,
  type FoundRecord,
  fileProblem,
  isUnknownFormat,
  notJson,
  notUtf8,
  otherType,
  type RecordPosition,
  readJoined,
  readRecord,
  recordsIn,
  recordsInItem,
  unknownFormat,
  withEntryName,
} from './records.ts'

/** The trajectories of a file with the problems of its other records, or the problem of the file. */
export type OpenResult =
  | {
      readonly ok: true
      readonly format: Format
      readonly trajectories: readonly Trajectory[]
      readonly failed: readonly FileProblem[]
    }
  | { readonly ok: false; readonly error: FileProblem }

/** An opened trajectory with its format, the problem of one record, or the problem of the file. */
export type OpenedTrajectory = { readonly ok: true; readonly format: Format; readonly trajectory: Trajectory } | Failed

interface Failed {
  readonly ok: false
  /** The record fails and others may open; or the file is refused and nothing follows. */
  readonly scope: 'record' | 'file'
  readonly error: FileProblem
}

interface OpenOptions {
  /** Undefined: the first recognised record decides. */
  readonly as?: Format | undefined
  readonly limits?: Limits
  /** What containers need. */
  readonly tools?: UnpackTools
  /**
   * Called with the number of records found so far, if the file itself is JSON or a table. What it throws ends the opening. Omitted: the
   * number is not reported.
   */
  readonly onRecords?: (count: number) => void
}

/**
 * Yields the trajectories and the problems of records in file order, or only the problem of the file if no record opens. The
 * trajectories of a format that joins its records come last. Each file of an archive is opened for itself; those without a record of
 * any format are passed over if others open. Those of a folder belong together if their format says so. Rejects if reading rejects.
 */
export async function* openFile(
  bytes: ByteSource,
  source: RecordSource,
  { as, limits = LIMITS, tools = memoryTools, onRecords = () => {} }: OpenOptions = {},
): AsyncGenerator<OpenedTrajectory> {
  const counter = { count: 0 }
  /** Problems of entries before the first trajectory. */
  const waiting: FileProblem[] = []
  let passedOver: FileProblem | undefined
  /** Files of an archive whose records belong together, by their folders. */
  const folders = new Map<string, { readonly files: JoinedFile[]; size: number }>()

  /** Ends a file of an archive. */
  function* endFile(opener: Opener, name: string): Generator<OpenedInPart> {
    if (opener.format()?.joinsFiles) {
      const folder = name.replace(/\/?[^/]*$/, '')
      const joined = folders.get(folder) ?? { files: [], size: 0 }
      const file = { name, ...opener.takeJoined() }
      folders.set(folder, joined)
      joined.files.push(file)
      joined.size += file.size
      if (joined.size > limits.recordBytes) yield refused(fileProblem({}, ...joinedTooLong(limits)))
    }
    yield* opener.end()
  }

  function* openFolder(folder: string, files: readonly JoinedFile[]): Generator<OpenedInPart> {
    const file = [source.file, folder].filter(Boolean).join('/')
    const opener = createOpener({ ...source, file }, as, limits, counter)
    for (const { records, size } of files.toSorted((a, b) => compareNames(a.name, b.name)))
      yield* opener.open(records, size)
    yield* opener.end()
  }

  /** Yields what was opened. Returns whether the file is refused. */
  async function* report(
    opened: AsyncIterable<OpenedInPart> | Iterable<OpenedInPart>,
    entry: string | undefined,
  ): AsyncGenerator<OpenedTrajectory, boolean> {
    for await (const one of opened) {
      if (one.ok) {
        yield* waiting.splice(0).map(failedRecord)
        yield one
        continue
      }
      const error = withEntryName(one.error, entry)
      if (one.scope === 'record') yield* waiting.splice(0).map(failedRecord)
      if (one.scope === 'file') {
        yield { ...one, scope: 'file', error }
        return true
      }
      if (one.scope === 'entry' && !isReported(one.error, entry)) passedOver ??= error
      else if (counter.count > 0) yield failedRecord(error)
      else waiting.push(error)
    }
    return false
  }

  for await (const part of partsOf(bytes, source.file, { limits, tools })) {
    const { entry } = part
    const name = entry === undefined ? source.file : [source.file, entry].filter(Boolean).join('/')
    const own = createOpener({ ...source, file: name }, as, limits, counter)
    const opener = entry === undefined ? own : { ...own, end: () => endFile(own, entry) }
    // Records of files in containers cannot be listed.
    const isWholeFile = part.kind === 'json' ? part.bytes === bytes : entry === undefined
    if (yield* report(openPart(part, opener, limits, isWholeFile ? onRecords : () => {}), entry)) return
  }
  // Their sizes were checked, so none of them is refused.
  for (const [folder, { files }] of folders) yield* report(openFolder(folder, files), folder)
  if (counter.count === 0) yield refused(waiting[0] ?? passedOver ?? NONE)
}

/** A file of an archive, whose records belong to those of its folder. */
interface JoinedFile {
  readonly name: string
  readonly records: FoundRecord[]
  /** Number of bytes of its records. */
  readonly size: number
}

/** Returns whether a part without a trajectory is a problem. Archives hold other files too: documents, and JSON without records. */
export const isReported = (problem: FileProblem, entry: string | undefined): boolean =>
  entry === undefined ||
  (problem !== NONE &&
    !isUnknownFormat(problem) &&
    (problem.expected !== 'JSON' || /\.(json|jsonl|ndjson)(\.\w+)?$/i.test(entry)))

/** The problem of a part without a trajectory has the scope `entry`. */
type OpenedInPart = OpenedTrajectory | (Omit<Failed, 'scope'> & { readonly scope: 'entry' })

type OnRecords = NonNullable<OpenOptions['onRecords']>

async function* openPart(
  part: FilePart,
  opener: Opener,
  limits: Limits,
  onRecords: OnRecords,
): AsyncGenerator<OpenedInPart> {
  switch (part.kind) {
    case 'failed':
      return yield { ok: false, scope: part.isWhole ? 'file' : 'entry', error: part.problem }
    case 'rows':
      return yield* openRows(part.rows, opener, limits, onRecords)
    case 'json': {
      // A stream has an event for each token. The opener counts its trajectories.
      const records = part.isEvents ? limits.entries : limits.records
      return yield* openJson(part.bytes, opener, { ...limits, records }, onRecords)
    }
  }
}

async function* openRows(
  rows: AsyncIterable<Row>,
  opener: Opener,
  limits: Limits,
  onRecords: OnRecords,
): AsyncGenerator<OpenedInPart> {
  let row = 0
  try {
    for await (const read of rows) {
      row++
      onRecords(row)
      if (row > limits.records) return yield refused(fileProblem({}, ...tooManyRecords(limits)))
      yield* opener.open(read.ok ? recordsIn(read.value, { row }) : fileProblem({ row }, read.error), 0)
      if (opener.isUnknown()) break
    }
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    if (error instanceof BudgetError) return yield refused(containerProblem(error))
    yield* opener.open(containerProblem(error), 0)
  }
  yield* opener.end()
}

async function* openJson(
  file: ByteSource,
  opener: Opener,
  limits: Limits,
  onRecords: OnRecords,
): AsyncGenerator<OpenedInPart> {
  const { bytes, readRecordBytes } = inPieces(file)
  const find = async (areLines?: true) => {
    const finder = createRecordFinder(limits, areLines)
    for (let at = 0; at < bytes.size && !finder.isBroken(); at += CHUNK) {
      finder.push(await bytes.read(at, Math.min(at + CHUNK, bytes.size)))
      onRecords(finder.count())
    }
    const found = finder.end()
    onRecords(finder.count())
    return found
  }
  const found = await find()
  if ('error' in found) return yield refused(fileProblem({}, found.error, found.hint))
  // A suspended generator keeps every value that it has had, so the bytes exist only in this function.
  const valuesOf = async (record: RecordBytes, isLines: boolean) => {
    const long =
      record.longLists.length > 0 && !record.failure
        ? await parseLongLists(byteRange(bytes, record.start, record.end), record.longLists)
        : undefined
    return long
      ? recordValues(record, long.value, isLines)
      : parseRecord(record, await readRecordBytes(record), isLines)
  }
  for (const record of found.records) {
    yield* opener.open(await valuesOf(record, found.isLines), sizeOf(record))
    if (opener.isUnknown()) break
  }
  if (found.isSpread && !opener.format()) {
    // The first line may be a broken record of JSON lines.
    const lines = await find(true)
    const other = opener.again()
    if (!('error' in lines))
      for (const record of lines.records) yield* other.open(await valuesOf(record, true), sizeOf(record))
    if (other.format()) return yield* other.end()
  }
  yield* opener.end()
}

interface PieceReader {
  /** The bytes of the file. A read of them drops the piece, because it may overwrite it. */
  readonly bytes: ByteSource
  /** Returns the bytes of a record that does not begin before the previous one, unless `bytes` were read since. */
  readonly readRecordBytes: (record: RecordBytes) => Promise<Uint8Array>
}

/** Reads many short records at once, in a piece of the file. */
function inPieces({ size, read }: ByteSource): PieceReader {
  const none = { from: 0, content: new Uint8Array() }
  let piece: { readonly from: number; readonly content: Uint8Array } = none
  return {
    bytes: {
      size,
      read(start, end) {
        piece = none
        return read(start, end)
      },
    },
    async readRecordBytes({ start, end }) {
      if (end - start > CHUNK) return read(start, end)
      if (end > piece.from + piece.content.length)
        piece = { from: start, content: await read(start, Math.min(start + CHUNK, size)) }
      return piece.content.subarray(start - piece.from, end - piece.from)
    },
  }
}

/** Opens a text that is already in memory. */
export function openText(text: string, source: RecordSource, as?: Format): OpenResult {
  const type = fileTypeOf(text, source.file) ?? containerIn(text)
  if (type) return { ok: false, error: otherType(type) }
  const bytes = new TextEncoder().encode(text)
  const finder = createRecordFinder(LIMITS)
  finder.push(bytes)
  const found = finder.end()
  if ('error' in found) return { ok: false, error: fileProblem({}, found.error, found.hint) }
  const { records, isLines } = found
  const opener = createOpener(source, as, LIMITS)
  function* openAll(): Generator<OpenedInPart> {
    for (const record of records)
      yield* opener.open(parseRecord(record, bytes.subarray(record.start, record.end), isLines), sizeOf(record))
    yield* opener.end()
  }
  const opened: Extract<OpenedInPart, { ok: true }>[] = []
  const failed: FileProblem[] = []
  for (const one of openAll())
    if (one.ok) opened.push(one)
    else if (one.scope === 'record') failed.push(one.error)
    else return { ok: false, error: one.error }
  const trajectories = opened.map(({ trajectory }) => trajectory)
  return { ok: true, format: elementAt(opened, 0).format, trajectories, failed }
}

/** Returns the container that a text was, whose bytes are lost. */
export function containerIn(text: string): FileType | undefined {
  const container = containerOf(text)
  return container && { name: container.name, hint: 'Open the file, not its text.' }
}

const refused = (error: FileProblem): Failed => ({ ok: false, scope: 'file', error })
const withoutTrajectory = (error: FileProblem): OpenedInPart => ({ ok: false, scope: 'entry', error })
const failedRecord = (error: FileProblem): Failed => ({ ok: false, scope: 'record', error })

/** Records of no format that are read before a file is refused: a log may begin with other lines. */
const MOST_UNKNOWN = 10_000
const UNKNOWN_HINT = `The first ${MOST_UNKNOWN} records have no format that Rollscope opens. If others follow, write them to a file of their own. docs/formats.md lists the formats.`

/** The problem of a file without records. */
const NONE = fileProblem({}, { path: '', expected: 'a trajectory', found: 'none in this file' })

const sizeOf = ({ start, end }: RecordBytes): number => end - start

const placeOf = ({ line }: RecordBytes, isLines: boolean): RecordPosition => (isLines ? { line } : {})

/** Returns the records in a parsed value. */
export const recordValues = (record: RecordBytes, value: unknown, isLines: boolean): FoundRecord[] =>
  record.item === undefined
    ? recordsIn(value, placeOf(record, isLines))
    : recordsInItem(value, record.item, placeOf(record, isLines))

/** Parses the bytes of a record; returns its values, or why it has none. */
export function parseRecord(record: RecordBytes, bytes: Uint8Array, isLines: boolean): FoundRecord[] | FileProblem {
  const { item, failure } = record
  const isElement = item !== undefined
  const problem = (error: Violation, hint?: string) =>
    fileProblem({ ...placeOf(record, isLines), ...(isElement && { path: `[${item}]` }) }, error, hint)
  if (failure) return problem(failure.error, failure.hint)
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return problem(notUtf8(record.start + decoded.at))
  const { text } = decoded
  try {
    // The finder of records has measured its nesting.
    return recordValues(record, parseShallowJson(text), isLines)
  } catch {
    return problem(notJson(text, isElement ? ' of the element' : ''))
  }
}

interface Opener {
  /** Opens the records of a value with this size in bytes, or reports why it has none. Takes the records out of the list. */
  open(values: FoundRecord[] | FileProblem, size: number): Generator<OpenedInPart>
  /** Ends the file: reads the records of a format that joins them, and reports a file without a trajectory. */
  end(): Generator<OpenedInPart>
  /** Takes the records of a format that joins them, with their size in bytes: they belong to another opener. */
  takeJoined(): { readonly records: FoundRecord[]; readonly size: number }
  /** Returns whether so many records are of no format that no others will be read. */
  isUnknown(): boolean
  /** Returns the format of the file; undefined until a record is recognised. */
  format(): Format | undefined
  /** Returns an opener for the same content, read in another way. */
  again(): Opener
}

/** Returns the records of each list, if the lines of the file are lists; otherwise all together. */
const listsIn = (records: readonly FoundRecord[]): Iterable<readonly FoundRecord[]> =>
  Map.groupBy(records, ({ line, path }) => (path === undefined ? undefined : line)).values()

/**
 * Opens one record after the other, all in one format, until the consumer stops at a refusal of the file. `counter` counts the
 * trajectories of all parts of a file.
 */
function createOpener(
  source: RecordSource,
  as: Format | undefined,
  limits: Limits,
  counter: { count: number } = { count: 0 },
): Opener {
  let format: Format | undefined
  let count = 0
  const joined: FoundRecord[] = []
  let joinedBytes = 0
  /** Number of records that no format recognises. */
  let unknown = 0
  /** Problems of records before the first trajectory, and with `joins` all. */
  const failures: FileProblem[] = []

  const fail = (error: FileProblem): readonly Failed[] => {
    if (count > 0) return [failedRecord(error)]
    failures.push(error)
    return []
  }

  function* open(values: FoundRecord[] | FileProblem, size: number): Generator<OpenedInPart> {
    if ('message' in values) return yield* fail(values)
    values.reverse()
    while (values.length > 0) yield* openLast(values)
    if (!format?.joins) return
    joinedBytes += size
    if (joinedBytes > limits.recordBytes) yield refused(fileProblem({}, ...joinedTooLong(limits)))
  }

  /** Takes the value out of the list, so that it does not exist while its trajectories are used. */
  const openLast = (values: FoundRecord[]): readonly OpenedTrajectory[] => {
    const one = values.pop() as FoundRecord
    const recognised = format ?? as ?? formatOf(one.value)
    if (!recognised) {
      unknown++
      return fail(fileProblem(one, unknownFormat(one.value)))
    }
    if (!isOfFormat(one.value, recognised)) {
      const expected = `a trajectory of ${recognised.label}`
      return fail(fileProblem(one, { ...unknownFormat(one.value), expected }))
    }
    format = recognised
    if (recognised.joins) {
      joined.push(one)
      return []
    }
    const read = readRecord(one, recognised, source, limits)
    return read.ok ? openedIn(read.trajectories, recognised) : fail(read.error)
  }

  const openedIn = (trajectories: readonly Trajectory[], format: Format): readonly OpenedTrajectory[] => {
    count += trajectories.length
    counter.count += trajectories.length
    if (counter.count > limits.records) return [refused(fileProblem({}, ...tooManyRecords(limits)))]
    const opened = trajectories.map((trajectory) => ({ ok: true, trajectory, format }) as const)
    return opened.length > 0 ? [...failures.splice(0).map(failedRecord), ...opened] : []
  }

  function* end(): Generator<OpenedInPart> {
    let refusal: FileProblem | undefined
    if (format?.joins)
      for (const records of format.joins === 'list' ? listsIn(joined.splice(0)) : [joined.splice(0)]) {
        const read = readJoined(records, format, source, limits, failures)
        if (!read.ok) refusal ??= read.error
        yield* read.ok ? openedIn(read.trajectories, format) : fail(read.error)
      }
    if (count > 0) return
    const problem = refusal ?? failures[0] ?? NONE
    yield withoutTrajectory(isUnknown() ? { ...problem, hint: UNKNOWN_HINT } : problem)
  }

  const isUnknown = () => !format && unknown >= MOST_UNKNOWN

  const takeJoined = () => ({ records: joined.splice(0), size: joinedBytes })

  return {
    open,
    end,
    takeJoined,
    isUnknown,
    format: () => format,
    again: () => createOpener(source, as, limits, counter),
  }
}
