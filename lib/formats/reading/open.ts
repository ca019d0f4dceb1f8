/**
 * Opens a file of any format: one JSON value, JSON lines, a list, or a dump with a list of samples. Either everything
 * opens or nothing, with the reason and its position. Records are found and counted first and then read one after the
 * other, so memory depends on the largest record, not on the file.
 */

import { parseLongLists } from '#lib/json/long-lists.ts'
import { parsePythonJson } from '#lib/json/python-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import type { Format, RecordSource } from '../format.ts'
import { formatOf, isOfFormat } from '../registry.ts'
import { BEGINNING, beginningOf, fileTypeOf } from './file-type.ts'
import { createRecordFinder, type FoundRecords, type RecordBytes, tooManyRecords } from './record-finder.ts'
import {
  type FileProblem,
  type FoundRecord,
  fileProblem,
  notJson,
  otherType,
  type RecordPosition,
  readRecord,
  recordsIn,
  recordsInItem,
  unknownFormat,
  utf8Text,
} from './records.ts'

/** All trajectories of a file, or the problem of the file. */
export type Opened =
  | { readonly ok: true; readonly format: Format; readonly trajectories: readonly Trajectory[] }
  | Failed

/** An opened trajectory with its format. */
export type OpenedTrajectory = { readonly ok: true; readonly format: Format; readonly trajectory: Trajectory } | Failed

interface Failed {
  readonly ok: false
  readonly error: FileProblem
}

/** The bytes of a file, which are read twice. */
export interface ByteSource {
  readonly size: number
  /**
   * Reads from `start` to `end`, which is at most `size`. The result may be overwritten by the next call, unless it is
   * longer than CHUNK. Rejects if the bytes cannot be read.
   */
  read(start: number, end: number): Promise<Uint8Array>
}

interface OpenOptions {
  /** Undefined: the first record decides. */
  readonly as?: Format | undefined
  readonly limits?: Limits
}

/** Yields the trajectories in file order, up to the first violation. Rejects if reading rejects. */
export async function* openFile(
  bytes: ByteSource,
  source: RecordSource,
  { as, limits = LIMITS }: OpenOptions = {},
): AsyncGenerator<OpenedTrajectory> {
  const type = fileTypeOf(beginningOf(await bytes.read(0, Math.min(BEGINNING, bytes.size))), source.file)
  if (type) return yield failureOf(otherType(type))
  const finder = createRecordFinder(limits)
  for (let at = 0; at < bytes.size && !finder.broken(); at += CHUNK)
    finder.push(await bytes.read(at, Math.min(at + CHUNK, bytes.size)))
  const found = finder.end()
  if ('error' in found) return yield failureOf(fileProblem(found.place, found.error, found.hint))
  const { parsed, valuesIn, open } = recordOpener(found, source, as, limits)
  const read = inPieces(bytes)
  // A suspended generator keeps every value that it has had, so the bytes exist only in this function.
  const valuesOf = async (record: RecordBytes) => {
    const long = record.hasLongList ? await parseLongLists(rangeOf(bytes, record)) : undefined
    return long ? valuesIn(record, long.value) : parsed(record, await read(record))
  }
  let isNone = true
  for (const record of found.records) {
    for (const one of open(await valuesOf(record))) {
      isNone = false
      yield one
      if (!one.ok) return
    }
  }
  if (isNone) yield failureOf(NONE)
}

/** Number of bytes that are read at once, except for longer records. */
export const CHUNK = 1 << 20

/** Returns the bytes of a record. */
const rangeOf = ({ read }: ByteSource, { start, end }: RecordBytes): ByteSource => ({
  size: end - start,
  read: (from, to) => read(start + from, start + to),
})

/** Reads many short records at once. */
function inPieces({ size, read }: ByteSource): (record: RecordBytes) => Promise<Uint8Array> {
  let piece: Uint8Array = new Uint8Array()
  let from = 0
  return async ({ start, end }) => {
    if (end - start > CHUNK) return read(start, end)
    if (end > from + piece.length) {
      piece = await read(start, Math.min(start + CHUNK, size))
      from = start
    }
    return piece.subarray(start - from, end - from)
  }
}

/** Opens a text that is already in memory. */
export function openText(text: string, source: RecordSource, as?: Format): Opened {
  const type = fileTypeOf(text, source.file)
  if (type) return failureOf(otherType(type))
  const bytes = new TextEncoder().encode(text)
  const finder = createRecordFinder(LIMITS)
  finder.push(bytes)
  const found = finder.end()
  if ('error' in found) return failureOf(fileProblem(found.place, found.error, found.hint))
  const { parsed, open } = recordOpener(found, source, as, LIMITS)
  const trajectories: Trajectory[] = []
  let format: Format | undefined
  for (const record of found.records)
    for (const one of open(parsed(record, bytes.subarray(record.start, record.end)))) {
      if (!one.ok) return one
      format = one.format
      trajectories.push(one.trajectory)
    }
  return format ? { ok: true, format, trajectories } : failureOf(NONE)
}

const failureOf = (error: FileProblem): Failed => ({ ok: false, error })

const NONE = fileProblem({}, { path: '', expected: 'a trajectory', found: 'none in this file' })

/** Opens one record after the other, all in one format. */
function recordOpener(
  { records, isLines }: FoundRecords,
  source: RecordSource,
  as: Format | undefined,
  limits: Limits,
) {
  let format = as
  let count = 0

  const placeOf = ({ line }: RecordBytes): RecordPosition => (isLines ? { line } : {})

  const valuesIn = (record: RecordBytes, value: unknown): FoundRecord[] =>
    record.item === undefined ? recordsIn(value, placeOf(record)) : recordsInItem(value, record.item, placeOf(record))

  const parsed = (record: RecordBytes, bytes: Uint8Array): FoundRecord[] | FileProblem => {
    const { item } = record
    const isElement = item !== undefined
    // If the beginning is not JSON, there are no JSON lines either.
    const at = record === records[0] ? {} : placeOf(record)
    const problem = (error: Violation) => fileProblem({ ...at, ...(isElement && { path: `[${item}]` }) }, error)
    const text = utf8Text(bytes)
    if (text === undefined) return problem({ path: '', expected: 'JSON', found: 'bytes that are not UTF-8' })
    try {
      return valuesIn(record, parsePythonJson(text))
    } catch {
      return problem(notJson(text, isElement ? ' of the element' : ''))
    }
  }

  /** Takes the values out of the list, so that none exists while the trajectories are used. */
  function* open(values: FoundRecord[] | FileProblem): Generator<OpenedTrajectory> {
    if ('message' in values) return yield failureOf(values)
    values.reverse()
    while (values.length > 0) yield* openLast(values)
  }

  const openLast = (values: FoundRecord[]): readonly OpenedTrajectory[] => {
    const one = values.pop() as FoundRecord
    const recognised = format ?? formatOf(one.value)
    format = recognised
    if (!recognised) return [failureOf(fileProblem(one, unknownFormat(one.value)))]
    if (!isOfFormat(one.value, recognised)) {
      const expected = `a trajectory of ${recognised.label}`
      return [failureOf(fileProblem(one, { ...unknownFormat(one.value), expected }))]
    }
    const read = readRecord(one, recognised, source, limits)
    if (!read.ok) return [read]
    count += read.trajectories.length
    if (count > limits.records) return [failureOf(fileProblem({}, ...tooManyRecords(limits)))]
    return read.trajectories.map((trajectory) => ({ ok: true, trajectory, format: recognised }))
  }

  return { parsed, valuesIn, open }
}
