/** Finds padding at the end of a trajectory: one id that is repeated, which some pipelines keep in their files. */

import { type RepairUndo, type Segment, schemas, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { resizedAlternatives } from '#lib/trajectory/tokens/alternatives.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { isSpecial, isTrained, spansBefore } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A special token at the end twice is padding, because no template ends with two. */
const FEWEST_SPECIAL = 2
/** Of an id whose text is unknown, only a longer run is padding. */
const FEWEST_UNKNOWN = 8

/** Returns the number of padding tokens at the end. Several ids may follow each other, such as an end token and a padding token. */
export function paddingLength(trajectory: Trajectory): number {
  let left = trajectory
  let length = 0
  for (;;) {
    const count = lastRun(left)
    if (count === 0) return length
    length += count
    left = withoutLastTokens(left, count)
  }
}

/**
 * Returns the number of untrained tokens at the end with the same id and without a logprob. 0 if they are no padding, all of the
 * trajectory, or a part of a call.
 */
function lastRun(trajectory: Trajectory): number {
  const { segments, vocab } = trajectory
  const id = segments.findLast(({ ids }) => ids.length > 0)?.ids.at(-1)
  if (id === undefined) return 0
  let count = 0
  let isAll = true
  for (const segment of segments.toReversed()) {
    const length = lengthBeforePadding(segment, id)
    count += segment.ids.length - length
    if (length === 0) continue
    if (segment.kind === 'response' && segment.toolCalls.some(({ span }) => span.end > length)) return 0
    isAll = false
    break
  }
  const text = vocab[id]
  const fewest = text === undefined ? FEWEST_UNKNOWN : FEWEST_SPECIAL
  const mayPad =
    text === undefined || isSpecial(trajectory, id) || PADDING.test(new TextDecoder().decode(bytesOf(text)))
  return !isAll && mayPad && count >= fewest ? count : 0
}

/** Matches the texts of tokens that pad sequences, if the file does not say which tokens are special. */
const PADDING = /^(?:<\|?(?:endoftext|pad|[\w-]*pad(?:ding)?)\|?>|\[PAD\]|<\/s>)$/i

/** Returns the number of tokens of a segment before the padding at its end. */
function lengthBeforePadding(segment: Segment, id: number): number {
  let length = segment.ids.length
  while (length > 0 && isPadding(segment, length - 1, id)) length--
  return length
}

const isPadding = (segment: Segment, index: number, id: number): boolean =>
  segment.ids[index] === id && !isTrained(segment, index) && (numberAt(segment.logprobs, index) ?? 0) === 0

/** Returns the trajectory without its last tokens. A segment without tokens and messages is left out. */
export function withoutLastTokens(trajectory: Trajectory, count: number): Trajectory {
  let left = count
  const segments: Segment[] = []
  for (const segment of trajectory.segments.toReversed()) {
    const cut = Math.min(left, segment.ids.length)
    left -= cut
    const trimmed = cut === 0 ? segment : shortened(segment, segment.ids.length - cut)
    if (cut === 0 || trimmed.ids.length > 0 || hasMessages(trimmed)) segments.unshift(trimmed)
  }
  return { ...trajectory, segments }
}

const hasMessages = (segment: Segment): boolean =>
  segment.kind === 'prompt' ? segment.messages.length > 0 : segment.message !== undefined

type RemovedTokens = Extract<RepairUndo, { kind: 'tokens' }>

/** Returns what restores a trajectory from which the last tokens were removed. */
export function removedTokens(before: Trajectory, after: Trajectory): RemovedTokens {
  const from = before.segments.findIndex((segment, index) => segment !== after.segments[index])
  return {
    kind: 'tokens',
    from,
    kept: after.segments.length - from,
    segments: before.segments.slice(from).map((segment) => ({ ...segment })),
  }
}

/**
 * Returns the trajectory with the tokens that were removed. Columns that it got since then are unknown at these tokens. Undefined if
 * its last segments are no longer those that the repair left.
 */
export function withRemovedTokens(
  trajectory: Trajectory,
  { from, kept, segments: recorded }: RemovedTokens,
): Trajectory | undefined {
  const originals = recorded.flatMap((value) => schemas.segment.safeParse(value).data ?? [])
  const left = trajectory.segments.slice(from)
  if (trajectory.segments.length !== from + kept || originals.length < recorded.length) return undefined
  let removed = idCount(originals) - idCount(left)
  const restored: Segment[] = []
  for (const original of originals.toReversed()) {
    const cut = Math.min(removed, original.ids.length)
    removed -= cut
    const isLeft = cut < original.ids.length || cut === 0 || hasMessages(original)
    const current = isLeft ? left.pop() : undefined
    if (isLeft && (current?.kind !== original.kind || current.ids.length !== original.ids.length - cut))
      return undefined
    restored.unshift(current ? lengthened(current, original) : original)
  }
  return removed === 0 && left.length === 0
    ? { ...trajectory, segments: [...trajectory.segments.slice(0, from), ...restored] }
    : undefined
}

const idCount = (segments: readonly Segment[]): number => segments.reduce((sum, { ids }) => sum + ids.length, 0)

/** Returns a shortened segment with the tokens that the original has after it. Its own numbers stay. */
function lengthened(current: Segment, original: Segment): Segment {
  const { length } = original.ids
  const column = (now: readonly (number | null)[] | undefined, before: readonly (number | null)[] | undefined) => {
    const first = (now ?? before ?? []).slice(0, current.ids.length)
    const rest = before?.slice(first.length) ?? new Array<null>(length - first.length).fill(null)
    return [...first, ...rest]
  }
  const names = Object.keys({ ...current.columns, ...original.columns })
  const { topLogprobs } = current
  const columns = {
    ids: original.ids,
    ...((current.logprobs ?? original.logprobs) && { logprobs: column(current.logprobs, original.logprobs) }),
    ...(original.mask && { mask: original.mask }),
    ...(names.length > 0 && {
      columns: Object.fromEntries(
        names.map((name) => [name, column(current.columns?.[name], original.columns?.[name])]),
      ),
    }),
    ...(original.problems && { problems: original.problems }),
    ...(original.topLogprobs
      ? { topLogprobs: original.topLogprobs }
      : topLogprobs && { topLogprobs: resizedAlternatives(topLogprobs, length) }),
  }
  if (current.kind === 'prompt' || original.kind === 'prompt') return { ...current, ...columns } as Segment
  const { thinks, weightVersions } = original
  return { ...current, ...columns, thinks, ...(weightVersions && { weightVersions }) }
}

/** Returns the first tokens of a segment with their columns and spans. */
function shortened(segment: Segment, length: number): Segment {
  const { ids, logprobs, mask, topLogprobs, columns, problems } = segment
  const first = {
    ids: ids.slice(0, length),
    ...(logprobs && { logprobs: logprobs.slice(0, length) }),
    ...(mask && { mask: mask.slice(0, length) }),
    ...(topLogprobs && { topLogprobs: resizedAlternatives(topLogprobs, length) }),
    ...(columns && {
      columns: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice(0, length)])),
    }),
    ...(problems && { problems: problems.filter(({ index = 0 }) => index < Math.max(1, length)) }),
  }
  if (segment.kind === 'prompt') return { ...segment, ...first }
  const { thinks, weightVersions } = segment
  return {
    ...segment,
    ...first,
    thinks: spansBefore(thinks, length),
    ...(weightVersions && { weightVersions: spansBefore(weightVersions, length) }),
  }
}
