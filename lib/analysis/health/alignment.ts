/** Checks token-in/token-out: every request must consist of exactly the ids before its response. */

import { inputHash, inputHashes } from '#lib/trajectory/format/input-hash.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ENCODED_AGAIN_LABEL, type HealthFinding } from '#lib/trajectory/health/health.ts'
import { promptOf, readOf } from '#lib/trajectory/messages/read-prompt.ts'
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { paddingLength } from '../repairs/padding.ts'
import { offerRepair, TRAILING_PADDING } from '../repairs/repairs.ts'
import type { HealthCheck } from './check.ts'

/** Reports prompts that do not continue the earlier tokens, broken continuations, requests with other ids or another length, prompts that a chat endpoint tokenized again, and padding. */
export const checkAlignment: HealthCheck = (trajectory, starts) => {
  const { segments, forkedFrom } = trajectory
  const ranges = segments.map((_, index) => ({ start: elementAt(starts, index), end: elementAt(starts, index + 1) }))
  const broken = segments.flatMap((segment, index) =>
    segment.kind === 'prompt' &&
    segment.derivation?.kind === 'continuation' &&
    segment.derivation.check.kind === 'broken'
      ? [{ place: elementAt(ranges, index), why: segment.derivation.check.why }]
      : [],
  )
  const otherInput = segments.flatMap((segment, index) => {
    const place = elementAt(ranges, index)
    const expected = inputLength(segment, place.start)
    const other = callsOf(segment).find(
      ({ request, start }) => request !== undefined && request.inputLength !== expected + start,
    )
    return other?.request ? [{ place, sent: other.request.inputLength, expected: expected + other.start }] : []
  })
  const readAnew = segments.flatMap((segment, index) => (readOf(segment) ? [elementAt(ranges, index)] : []))
  const otherIds = otherInputs({ segments }, starts).map((index) => elementAt(ranges, index))
  const findings = [
    finding(
      broken.map(({ place }) => place),
      'TITO check broken',
      `The template rewrites what a continuation appends: ${broken[0]?.why}`,
      'Open the boundary in the template lab, and choose template options that keep earlier turns unchanged.',
    ),
    finding(
      otherInput.map(({ place }) => place),
      `${countWithNoun(otherInput.length, 'request')} of another length`,
      `A response follows ${otherInput[0]?.expected} recorded tokens, but its request had ${otherInput[0]?.sent}: the model did not read the recorded prefix.`,
      'Logprobs of such a response belong to another prefix: do not train on it.',
    ),
    finding(
      otherIds,
      `${countWithNoun(otherIds.length, 'request')} with other ids`,
      'The hash of the request differs from that of the tokens before the response: the ids were changed after they were recorded.',
      'Logprobs of such a response belong to another prefix: do not train on it.',
    ),
    finding(
      readAnew,
      `${countWithNoun(readAnew.length, 'response')} after different tokens`,
      'The messages were tokenized again for each turn, and the server read other tokens than had been sampled: these responses were not sampled after the tokens before them.',
      'Logprobs of such a response belong to another prefix: compare the trajectory with the tokens that the server read.',
    ),
    renderedAgain(forkedFrom, elementAt(starts, segments.length)),
    findPadding(trajectory, elementAt(starts, segments.length)),
  ].flat()
  const prompts = segments.filter(({ kind }) => kind === 'prompt')
  const explained = prompts.filter(
    (segment) =>
      segment.kind === 'prompt' &&
      (segment.derivation?.kind === 'continuation' || segment.derivation?.kind === 'reported'),
  )
  const isUnrendered = prompts.some(
    (segment) =>
      segment.kind === 'prompt' &&
      segment.derivation?.kind === 'continuation' &&
      segment.derivation.check.kind === 'unknown',
  )
  return {
    findings,
    ...(isUnrendered && {
      unknown: 'the prompt was text or ids, so no template renders the whole trajectory for comparison',
    }),
    ...(prompts.length > 1 &&
      explained.length < prompts.length - 1 && { unknown: 'the file does not record how its later prompts were made' }),
  }
}

/** The first token that differs is named; which of the later ones differ is known only from a comparison. */
function renderedAgain(forkedFrom: Trajectory['forkedFrom'], tokens: number): readonly HealthFinding[] {
  if (forkedFrom?.kind !== 'rendered_again') return []
  const { token } = forkedFrom
  return finding(
    [{ start: Math.min(token, Math.max(0, tokens - 1)), end: Math.min(token + 1, tokens) }],
    ENCODED_AGAIN_LABEL,
    `The conversation was encoded again for this prompt: from token ${token}, its ids differ from those that the model sampled and read before.`,
    'Compare the trajectory with the one that it was forked from: the drift names the cause. Append new tokens to the sampled ids instead of encoding the conversation again.',
  )
}

/** Padding is not trained, and yet it takes room of the trainer's context and shifts the end of the run. */
function findPadding(trajectory: Trajectory, tokens: number): readonly HealthFinding[] {
  const count = paddingLength(trajectory)
  if (count === 0) return []
  return [
    {
      kind: 'alignment',
      severity: 'warning',
      label: countWithNoun(count, 'padding token'),
      message: `The last ${countWithNoun(count, 'token')} ${count === 1 ? 'is' : 'are'} padding: untrained, with the same id.`,
      count,
      places: [{ start: tokens - count, end: tokens }],
      remedy: 'Remove the padding before the file is written: trainers pad their batches themselves.',
      ...offerRepair(TRAILING_PADDING, trajectory),
    },
  ]
}

/** Returns the finding at these places; none without a place. */
const finding = (
  places: HealthFinding['places'],
  label: string,
  message: string,
  remedy: string,
): readonly HealthFinding[] =>
  places.length === 0
    ? []
    : [{ kind: 'alignment', severity: 'error', label, message, count: places.length, places, remedy }]

/** Matches a SHA-256 hash. Files may have another text in place of a hash that was not computed, which is not an error. */
const SHA_256 = /^[0-9a-f]{64}$/

/** Returns the segments of responses whose requests had the expected number of ids, but other ids. */
function otherInputs({ segments }: Pick<Trajectory, 'segments'>, starts: readonly number[]): readonly number[] {
  const recorded = segments.map((segment, index) => {
    const request = segment.kind === 'response' ? segment.request : undefined
    return request &&
      request.inputLength === inputLength(segment, elementAt(starts, index)) &&
      SHA_256.test(request.inputHash)
      ? request.inputHash
      : undefined
  })
  const resumed = segments.flatMap((segment, index) =>
    callsOf(segment)
      .slice(1)
      .map(({ request, start }) => ({
        index,
        hash: request?.inputHash ?? '',
        length: elementAt(starts, index) + start,
      })),
  )
  if (recorded.every((hash) => hash === undefined) && resumed.length === 0) return []
  const ids = segments.flatMap((segment) => segment.ids)
  const hashes = [...inputHashes([[], ...segments.map((segment) => segment.ids)])].map((hash, index) => {
    const segment = segments[index]
    return segment && readOf(segment) ? inputHash(promptOf(ids, segment, elementAt(starts, index))) : hash
  })
  const others = new Set(
    recorded.flatMap((hash, index) => (hash === undefined || hash === hashes[index] ? [] : [index])),
  )
  for (const { index, hash, length } of resumed)
    if (SHA_256.test(hash) && inputHash(ids.slice(0, length)) !== hash) others.add(index)
  return [...others].toSorted((a, b) => a - b)
}

const callsOf = (segment: Segment) => (segment.kind === 'response' ? responseCalls(segment) : [])

/** Returns the number of tokens that the model read before a segment. `before` is the number of recorded tokens before it. */
function inputLength(segment: Segment, before: number): number {
  const read = readOf(segment)
  return read ? read.kept + read.ids.length : before
}
