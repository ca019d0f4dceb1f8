/** Finds padding at the end of a trajectory: one id that is repeated, which some pipelines keep in their files. */

import type { Segment, Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { isSpecial, isTrained } from '#lib/trajectory/tokens/tokens.ts'
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
    const length = keptLength(segment, id)
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
function keptLength(segment: Segment, id: number): number {
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

/** Returns the first tokens of a segment with their columns and spans. */
function shortened(segment: Segment, length: number): Segment {
  const { ids, logprobs, mask, topLogprobs, columns, problems } = segment
  const first = {
    ids: ids.slice(0, length),
    ...(logprobs && { logprobs: logprobs.slice(0, length) }),
    ...(mask && { mask: mask.slice(0, length) }),
    ...(topLogprobs && {
      topLogprobs: {
        ...topLogprobs,
        ids: topLogprobs.ids.slice(0, length * topLogprobs.k),
        logprobs: topLogprobs.logprobs.slice(0, length * topLogprobs.k),
      },
    }),
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
    thinks: within(thinks, length),
    ...(weightVersions && { weightVersions: within(weightVersions, length) }),
  }
}

/** Returns the spans that begin before a length, cut there. */
const within = <S extends Span>(spans: readonly S[], length: number): readonly S[] =>
  spans.flatMap((span) => (span.start < length ? [{ ...span, end: Math.min(span.end, length) }] : []))
