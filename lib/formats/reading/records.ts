/** The records of a file as JSON values with their positions, and the messages about wrong ones. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { whyNotJson } from '#lib/json/python-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Limits } from '#lib/util/limits.ts'
import { describeValue, type Violation, violationText } from '#lib/util/schema-violation.ts'
import { isMessageList } from '../conversations/chat-messages.ts'
import type { Format, ReadResult, RecordSource } from '../format.ts'
import { formatOf, formats } from '../registry.ts'
import type { FileType } from './file-type.ts'
import { unsupportedFormat } from './unsupported.ts'

/** Position of a record in a file. */
export interface RecordPosition {
  /** Row of a table, from 1. */
  readonly row?: number
  /** Line of JSON lines, from 1. */
  readonly line?: number
  /** For example `samples[3]`. */
  readonly path?: string
}

/** A record with its position. */
export interface FoundRecord extends RecordPosition {
  readonly value: unknown
}

/** The problem of a file or of one of its records. */
export interface FileProblem extends Violation {
  /** Name of the file or table in an archive. */
  readonly entry?: string
  /** Line of JSON lines, from 1. */
  readonly line?: number
  /** Row of a table, from 1. */
  readonly row?: number
  /** The problem and its position, as one sentence. */
  readonly message: string
  /** Advice for the user. */
  readonly hint: string
}

/**
 * Returns the records of a list, of a slime dump (`samples`), of a table or of a strands-sglang model (`rollout_history`). A list of messages
 * is one record.
 */
export function recordsIn(value: unknown, place: RecordPosition): FoundRecord[] {
  if (Array.isArray(value) && !isMessageList(value))
    return value.flatMap((item, index) => recordsInItem(item, index, place))
  const rows = isObject(value) ? rowsIn(value) : undefined
  return rows && !isRecognised(value) ? rows.map((row) => ({ ...place, ...row })) : rolloutsIn({ ...place, value })
}

/**
 * Returns the records of a dump, of a crew of CrewAI, of a table whose rows are lists, as Weights & Biases and pandas write it, or of a table
 * of Hugging Face's data set viewer; undefined if the value has none.
 */
function rowsIn({ samples, tasks_output: tasks, columns, data, rows }: JsonObject): readonly FoundRecord[] | undefined {
  if (Array.isArray(samples)) return samples.map((value, index) => ({ path: `samples[${index}]`, value }))
  if (Array.isArray(tasks)) return tasks.map((value, index) => ({ path: `tasks_output[${index}]`, value }))
  if (Array.isArray(columns) && Array.isArray(data) && data.every(Array.isArray))
    return data.map((row: readonly unknown[], index) => ({
      path: `data[${index}]`,
      value: Object.fromEntries(columns.map((name, column) => [String(name), row[column] ?? null])),
    }))
  if (Array.isArray(rows) && rows.length > 0 && rows.every((row) => isObject(row) && isObject(row.row)))
    return rows.map(({ row }: { readonly row: JsonObject }, index) => ({ path: `rows[${index}].row`, value: row }))
  return undefined
}

/** Returns the records of one element of a list; `place` is the list's position. */
export const recordsInItem = (value: unknown, index: number, place: RecordPosition): FoundRecord[] =>
  rolloutsIn({ ...place, path: `[${index}]`, value })

/**
 * The finished rollouts of a model precede its current one. Fields next to them belong to the current rollout, or to
 * the last finished one if there is none.
 */
function rolloutsIn(record: FoundRecord): FoundRecord[] {
  const { value, ...place } = record
  if (!isObject(value) || !Array.isArray(value[HISTORY]) || value[HISTORY].length === 0) return [record]
  const finished = value[HISTORY].map((rollout, index) => ({ key: `${HISTORY}[${index}]`, rollout }))
  const beside = without(value, [HISTORY])
  const found = finished.map(({ key, rollout }) => ({ ...place, path: joinedPath(place.path, key), value: rollout }))
  if (beside === undefined) return found
  const last = finished.at(-1) as (typeof finished)[number]
  // Messages alone are a format too, but here they belong to a rollout.
  const format = formatOf(beside)
  if (format && format === formatOf(last.rollout)) return [...found, { ...place, value: beside }]
  return [...found.slice(0, -1), { ...place, value: { ...beside, [last.key]: last.rollout } }]
}

const HISTORY = 'rollout_history'

const isRecognised = (value: unknown): boolean => (formatOf(value) ?? unsupportedFormat(value)) !== undefined

const ANY_FORMAT = 'a trajectory in a format that Rollscope opens'

/** Returns whether the problem is that no format recognises a value. */
export const isUnknownFormat = ({ expected }: FileProblem): boolean => expected === ANY_FORMAT

/** Returns the violation of a value that no format recognises; it names the other tool's format if that is known. */
export const unknownFormat = (value: unknown): Violation => ({
  path: '',
  expected: ANY_FORMAT,
  found: unsupportedFormat(value) ?? formatWords(value) ?? describeValue(value),
})

/** Names the format of a value that is not of the requested format. */
function formatWords(value: unknown): string | undefined {
  const format = formatOf(value)
  return format && `a record of ${format.label}`
}

/** Returns the violation of an invalid text; `of` names the text if it is not the whole line or file. */
export function notJson(text: string, of = ''): Violation {
  const why = whyNotJson(text, of)
  return { path: '', expected: 'JSON', found: PYTHON_SIGN.test(why) ? `${PYTHON_LITERAL}: ${why}` : why }
}

const PYTHON_LITERAL = 'a Python literal'
/** A single quote, or the first letter of True, False or None. */
const PYTHON_SIGN = /^"['TFN]" where /

/** Advice for a value that Python printed. */
const PYTHON_HINT =
  'Write the value with `json.dumps(value)`. A printed text becomes JSON with `json.dumps(ast.literal_eval(text))`.'

/** Returns the violation of bytes that are not UTF-8. `at` is the index of the first of them in the file. */
export const notUtf8 = (at: number): Violation => ({
  path: '',
  expected: 'JSON',
  found: `bytes that are not UTF-8 (byte ${at + 1})`,
})

/** Returns the problem of a file whose first bytes show that it is not JSON. */
export const otherType = ({ name, hint }: FileType): FileProblem =>
  fileProblem({}, { path: '', expected: 'JSON', found: name }, `${hint} ${OPEN_HINT}`)

/** Advice for a file of an unknown format. */
const OPEN_HINT = `Rollscope opens JSON, JSON lines, tables and archives of ${formats.length} formats, which docs/formats.md lists.`

/** Advice for a record without its end. */
const CUT_OFF_HINT = 'The record is cut off: write or copy the file again.'

/** Returns whether a text is not JSON because its end is missing. */
const isCutOff = ({ expected, found }: Pick<Violation, 'expected' | 'found'>): boolean =>
  expected === 'JSON' && /^(the text ends|a list that has no end)/.test(found)

function hintFor({ expected, found }: Violation): string {
  if (isCutOff({ expected, found })) return CUT_OFF_HINT
  return found.startsWith(PYTHON_LITERAL) ? PYTHON_HINT : OPEN_HINT
}

/** Returns the problem of a violation in a record, with its line and path. */
export function fileProblem({ line, row, path }: RecordPosition, error: Violation, hint = hintFor(error)): FileProblem {
  const joined = joinedPath(path, error.path)
  const violation = { ...error, path: joined }
  const text = violationText(violation)
  return {
    ...violation,
    ...(line !== undefined && { line }),
    ...(row !== undefined && { row }),
    message: `${line === undefined ? '' : `line ${line}: `}${row === undefined ? '' : `row ${row}: `}${text}`,
    hint,
  }
}

/** Returns the problem with the name of its entry in an archive. */
export const withEntryName = (problem: FileProblem, entry: string | undefined): FileProblem =>
  entry === undefined ? problem : { ...problem, entry, message: `${entry}: ${problem.message}` }

type ReadRecords =
  | { readonly ok: true; readonly trajectories: readonly Trajectory[] }
  | { readonly ok: false; readonly error: FileProblem }

/** Reads a record that the format recognises. */
export function readRecord(
  { value, ...place }: FoundRecord,
  format: Format,
  source: RecordSource,
  limits: Limits,
): ReadRecords {
  return withinLimits(format.read(value, source), limits, (error, hint) => fileProblem(place, error, hint))
}

/**
 * Reads all records of a file in a format that joins them. A record that the format names as wrong is left out, and added to
 * `failed`; the trajectories then name it as missing.
 */
export function readJoined(
  records: readonly FoundRecord[],
  format: Format,
  source: RecordSource,
  limits: Limits,
  failed: FileProblem[],
): ReadRecords {
  let left = records
  for (let attempts = 0; ; attempts++) {
    let wrong: FoundRecord | undefined
    const read = withinLimits(
      format.read(
        left.map(({ value }) => value),
        source,
      ),
      limits,
      (error, hint) => {
        // A path in the list begins with the index of a record, whose position in the file is known.
        const [begin = '', index] = /^\[(\d+)\]\.?/.exec(error.path) ?? []
        wrong = index === undefined ? undefined : left[Number(index)]
        return fileProblem(wrong ?? {}, wrong ? { ...error, path: error.path.slice(begin.length) } : error, hint)
      },
    )
    if (read.ok)
      return { ok: true, trajectories: read.trajectories.map((trajectory) => withFailedRecords(trajectory, failed)) }
    if (!wrong || left.length === 1 || attempts === MOST_LEFT_OUT) return read
    failed.push(read.error)
    left = left.filter((record) => record !== wrong)
  }
}

/** Each further wrong record reads the list once more. */
const MOST_LEFT_OUT = 10

/** Returns the trajectory of a joined format with a note that a record of its file could not be read. */
function withFailedRecords(trajectory: Trajectory, failed: readonly FileProblem[]): Trajectory {
  const { provenance } = trajectory
  if (failed.length === 0 || provenance.kind !== 'import') return trajectory
  const [{ message }] = failed as readonly [FileProblem]
  const losses = `${failed.length === 1 ? 'a record' : `${failed.length} records`} that could not be read (${message})`
  return { ...trajectory, provenance: { ...provenance, lacked: [...provenance.lacked, losses] } }
}

function withinLimits(
  read: ReadResult,
  limits: Limits,
  problem: (error: Violation, hint: string | undefined) => FileProblem,
): ReadRecords {
  if (!read.ok) return { ok: false, error: problem(read.error, read.hint) }
  const violation = read.trajectories.map((trajectory) => limitViolation(trajectory, limits)).find(Boolean)
  return violation ? { ok: false, error: problem(violation, SPLIT_HINT) } : read
}

function limitViolation({ segments }: Trajectory, limits: Limits): Violation | undefined {
  if (segments.length > limits.segments)
    return { path: '', expected: `at most ${limits.segments} segments`, found: String(segments.length) }
  const tokens = segments.reduce((sum, { ids }) => sum + ids.length, 0)
  return tokens > limits.tokens
    ? { path: '', expected: `at most ${limits.tokens} tokens`, found: String(tokens) }
    : undefined
}

const SPLIT_HINT = 'Cut the trajectory, or split it into several.'

const joinedPath = (path = '', inner: string): string =>
  [path, inner]
    .filter((part) => part !== '')
    .join('.')
    .replaceAll('.[', '[')
