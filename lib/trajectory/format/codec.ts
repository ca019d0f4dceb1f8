/**
 * Trajectory ↔ text. `decode` accepts a file or reports precisely what is wrong with it. `encode` writes a trajectory
 * so that decoding the text gives an equal one, and encoding that gives the same text.
 */

import { readableJson } from '#lib/json/readable-json.ts'
import { schemaViolation, type Violation } from '#lib/util/schema-violation.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import type { LiveTrajectory } from '../events/events.ts'
import { responseCalls } from '../messages/response-calls.ts'
import { parseTrajectory } from './parse-trajectory.ts'
import { tokenNotesViolation } from './token-notes.ts'
import { FORMAT, type Segment, type Span, type Trajectory } from './trajectory.ts'

/** A trajectory, or the violation that makes the file invalid. */
export type DecodeResult =
  | { readonly ok: true; readonly trajectory: Trajectory }
  | { readonly ok: false; readonly error: Violation }

/** Writes a trajectory as the text of a file. */
export const encode = (trajectory: Trajectory): string => readableJson(recordOf(trajectory))

/** Returns the trajectory without the state of a running rollout, as a file contains it. */
export function recordOf(trajectory: Trajectory): Trajectory {
  const { live: _, ...record }: LiveTrajectory = trajectory
  const parsed = parseTrajectory(record)
  if (!parsed.success) throw parsed.error
  return parsed.data
}

/** Reads the text of a trajectory file. */
export function decode(text: string): DecodeResult {
  let value: unknown
  try {
    value = JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    return failureOf('', 'JSON', (error as SyntaxError).message)
  }
  return decodeValue(value)
}

/** Reads a parsed trajectory file. */
export function decodeValue(value: unknown): DecodeResult {
  const version = formatOf(value)
  if (version === undefined) return failureOf('format', `"${FORMAT}"`, describeFormat(value))
  if (version > 1)
    return failureOf(
      'format',
      `"${FORMAT}" or older`,
      `version ${version}, written by a newer Rollscope: update it to open this file`,
    )
  const parsed = parseTrajectory(value)
  if (!parsed.success) return { ok: false, error: schemaViolation(parsed.error, value) }
  const trajectory: Trajectory = parsed.data
  const error = inconsistency(trajectory)
  return error ? { ok: false, error } : { ok: true, trajectory }
}

/** Returns the version number of a `rollscope.trajectory/N` value, or undefined for other values. */
function formatOf(value: unknown): number | undefined {
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  const match = typeof format === 'string' ? /^rollscope\.trajectory\/(\d+)$/.exec(format) : null
  return match ? Number(match[1]) : undefined
}

function describeFormat(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'a file that is not a trajectory object'
  return 'format' in value ? JSON.stringify(value.format) : 'no "format" field'
}

/** Returns the first violation of a rule that the schema cannot express: lengths, ranges, references. */
function inconsistency(trajectory: Trajectory): Violation | undefined {
  const callIds = new Set<string>()
  let length = 0
  for (const [index, segment] of trajectory.segments.entries()) {
    const at = `segments[${index}]`
    const error =
      columnsInconsistency(segment, at) ??
      vocabInconsistency(segment, trajectory, at) ??
      requestInconsistency(segment, length, trajectory, at)
    if (error) return error
    length += segment.ids.length
    if (segment.kind !== 'response') continue
    const spans: [string, Span][] = [
      ...segment.thinks.map((think, i): [string, Span] => [`${at}.thinks[${i}]`, think]),
      ...segment.toolCalls.map((call, i): [string, Span] => [`${at}.toolCalls[${i}].span`, call.span]),
      ...segment.toolCalls.flatMap((call, i) =>
        call.kind === 'parsed'
          ? call.arguments.map((a, j): [string, Span] => [`${at}.toolCalls[${i}].arguments[${j}].span`, a.span])
          : [],
      ),
      ...(segment.forced ?? []).map((forced, i): [string, Span] => [`${at}.forced[${i}]`, forced]),
      ...(segment.weightVersions ?? []).map((version, i): [string, Span] => [`${at}.weightVersions[${i}]`, version]),
      ...responseCalls(segment)
        .slice(1)
        .map((call, i): [string, Span] => [`${at}.resumed[${i}].at`, call]),
    ]
    for (const [path, span] of spans) {
      if (span.start > span.end || span.end > segment.ids.length)
        return {
          path,
          expected: `0 ≤ start ≤ end ≤ ${segment.ids.length}`,
          found: `start ${span.start}, end ${span.end}`,
        }
    }
    for (const [i, call] of segment.toolCalls.entries()) {
      if (callIds.has(call.id))
        return { path: `${at}.toolCalls[${i}].id`, expected: 'an id used once', found: JSON.stringify(call.id) }
      callIds.add(call.id)
    }
  }
  return tokenNotesViolation(trajectory.notes ?? [], length)
}

function columnsInconsistency(segment: Segment, at: string): Violation | undefined {
  const n = segment.ids.length
  const columns: [string, readonly unknown[] | undefined, number][] = [
    [`${at}.logprobs`, segment.logprobs, n],
    [`${at}.mask`, segment.mask, n],
    [`${at}.topLogprobs.ids`, segment.topLogprobs?.ids, n * (segment.topLogprobs?.k ?? 0)],
    [`${at}.topLogprobs.logprobs`, segment.topLogprobs?.logprobs, n * (segment.topLogprobs?.k ?? 0)],
    ...Object.entries(segment.columns ?? {}).map(([name, values]): [string, readonly unknown[], number] => [
      `${at}.columns.${name}`,
      values,
      n,
    ]),
  ]
  for (const [path, values, length] of columns) {
    if (values && values.length !== length)
      return { path, expected: `${length} entries (one for each token)`, found: `${values.length} entries` }
  }
  return undefined
}

/** With a named tokenizer every text must be known; a file without a tokenizer may contain ids alone. */
function vocabInconsistency(segment: Segment, { vocab, model }: Trajectory, at: string): Violation | undefined {
  if (!model.tokenizer) return undefined
  const index = segment.ids.findIndex((id) => !Object.hasOwn(vocab, id))
  if (index >= 0)
    return { path: `${at}.ids[${index}]`, expected: 'an id with an entry in vocab', found: String(segment.ids[index]) }
  const alternatives = segment.topLogprobs?.ids ?? []
  const alternative = alternatives.findIndex((id) => id >= 0 && !Object.hasOwn(vocab, id))
  if (alternative >= 0)
    return {
      path: `${at}.topLogprobs.ids[${alternative}]`,
      expected: 'an id with an entry in vocab',
      found: String(alternatives[alternative]),
    }
  return undefined
}

/** Checks the tokens that a request read; `length` is the number of tokens before the segment. */
function requestInconsistency(
  segment: Segment,
  length: number,
  { vocab, model }: Trajectory,
  at: string,
): Violation | undefined {
  const read = segment.kind === 'response' ? segment.request?.read : undefined
  if (!read) return undefined
  if (read.kept > length)
    return { path: `${at}.request.read.kept`, expected: `at most ${length}`, found: String(read.kept) }
  const index = model.tokenizer ? read.ids.findIndex((id) => !Object.hasOwn(vocab, id)) : -1
  if (index < 0) return undefined
  return {
    path: `${at}.request.read.ids[${index}]`,
    expected: 'an id with an entry in vocab',
    found: String(read.ids[index]),
  }
}

const failureOf = (path: string, expected: string, found: string): DecodeResult => ({
  ok: false,
  error: { path, expected, found },
})
