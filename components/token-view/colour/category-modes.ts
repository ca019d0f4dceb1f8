/** Colour modes that sort tokens into categories. The categories of a trajectory are collected once, and a closed segment is read once. */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { rankAt } from '#lib/trajectory/tokens/alternatives.ts'
import { type ColumnSource, roleColumn } from '#lib/trajectory/tokens/column-roles.ts'
import { isTrained, spansOf } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type ResponseView, type SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { elementAt, float32At } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { segmentTitle } from '../segment-title.ts'
import type { Category, CategoryMode } from './mode.ts'
import { HEAT_LEVELS, heat, MASK_ON, tint } from './palette.ts'

const NONE = -1
const NOT_KNOWN = Number.NaN

/** Colours tokens by their loss mask. */
export const MASK: CategoryMode = {
  kind: 'category',
  name: 'mask',
  title: 'Mask',
  explanation: 'Loss mask: which tokens are trained on',
  categories: [
    { label: 'trained (mask 1, underlined)', colour: MASK_ON },
    { label: 'context (mask 0)', colour: undefined },
  ],
  read: (segment) => (offset) => (isTrained(segment, offset) ? 0 : 1),
}

/**
 * Colours trained tokens by their rank among `k` alternatives. Rank 1 has no colour and later ranks are warmer; if there are more ranks
 * than colours, adjacent ranks share one.
 */
export function rankMode(k: number): CategoryMode {
  const bucketOf = (rank: number): number =>
    rank === 1 || k - 1 <= RANK_COLOURS ? rank - 1 : 1 + Math.floor(((rank - 2) * RANK_COLOURS) / (k - 1))
  const ranks = Array.from({ length: k }, (_, index) => index + 1)
  const buckets = Array.from({ length: k === 0 ? 0 : bucketOf(k) + 1 }, (_, bucket) =>
    ranks.filter((rank) => bucketOf(rank) === bucket),
  )
  const colourOf = (bucket: number) =>
    bucket === 0 ? undefined : heat(COOLEST_RANK - 1 + Math.ceil((bucket * RANK_COLOURS) / (buckets.length - 1)))
  return {
    kind: 'category',
    name: 'rank',
    title: 'Rank',
    explanation: 'Place of the sampled token among the k best alternatives; a token without alternatives has no data',
    categories: [
      ...buckets.map((bucket, index): Category => ({ label: rangeText(bucket), colour: colourOf(index) })),
      { label: `beyond ${k}`, colour: heat(HEAT_LEVELS) },
    ],
    read: (segment) => (offset) => {
      if (!isTrained(segment, offset)) return NONE
      const rank = rankAt(segment, offset)
      if (rank === null) return NOT_KNOWN
      return rank > k ? buckets.length : bucketOf(rank)
    },
  }
}

/** Heat level of rank 2: the first two levels are hard to see on a single token. The last level is for ranks beyond k. */
const COOLEST_RANK = 3
const RANK_COLOURS = HEAT_LEVELS - COOLEST_RANK

function rangeText(ranks: readonly number[]): string {
  const [first, last] = [ranks[0], ranks.at(-1)]
  return first === last ? `rank ${first}` : `ranks ${first}–${last}`
}

/** Colours tokens by the weight version that sampled them; versions are in the order of their first token. */
export function versionMode(trajectory: ColumnSource): CategoryMode {
  const versionsOf = (segment: SegmentView) => versionSpans(segment, trajectory)
  const versions = distinct(trajectory.segments.flatMap((segment) => versionsOf(segment).map(({ version }) => version)))
  const read = codesOnce((segment, codes) => {
    if (segment.kind === 'response') codes.fill(NOT_KNOWN)
    for (const { version, start, end } of versionsOf(segment)) codes.fill(versions.indexOf(version), start, end)
  })
  return {
    kind: 'category',
    name: 'version',
    title: 'Weight version',
    explanation: 'Which weights sampled a token',
    categories: categoriesOf(versions),
    read,
  }
}

/** Colours tokens by the mask that a trainer computed from its ratios: 1 is used, 0 is left out. */
export const clipMaskMode = (trajectory: ColumnSource): CategoryMode => ({
  kind: 'category',
  name: 'clipmask',
  title: 'Clip mask',
  explanation: 'Tokens that the trainer used (1) or left out (0), as it reported',
  categories: [
    { label: 'used (1)', colour: tint(3) },
    { label: 'left out (0)', colour: tint(6) },
  ],
  read: (segment) => {
    const column = roleColumn(segment, trajectory, 'clipMask')
    return (offset) => {
      const bit = numberAt(column, offset)
      return bit === null ? NONE : bit === 0 ? 1 : 0
    }
  },
})

/** Colours each segment by its index, so that neighbouring segments differ. */
export function segmentMode(segments: readonly SegmentView[]): CategoryMode {
  const indices = new Map(segments.map((segment, index) => [segment, index]))
  return {
    kind: 'category',
    name: 'segment',
    title: 'Segment',
    explanation: 'Segments one after the other; colours repeat after eight',
    categories: categoriesOf([
      ...segments.map((segment, index) => `${index} ${segmentTitle(segment)}`),
      `${segments.length} open`,
    ]),
    read: (segment) => {
      const index = indices.get(segment) ?? segments.length
      return () => index
    },
  }
}

const SPAN_KINDS = ['think', 'call', 'argument', 'text', 'special', 'context'] as const

/**
 * Colours tokens by the innermost span that contains them: special token, argument, call or think block; other tokens are plain text or
 * context.
 */
export function spanMode(model: Trajectory['model']): CategoryMode {
  const code = (kind: (typeof SPAN_KINDS)[number]): number => SPAN_KINDS.indexOf(kind)
  const specialIds = new Set(model.tokenizer?.specialIds)
  const read = codesOnce((segment, codes) => {
    codes.fill(code(segment.kind === 'response' ? 'text' : 'context'))
    for (const { kind, span } of spansOf(segment))
      codes.fill(code(kind === 'tool-call' ? 'call' : kind), span.start, span.end)
    for (let offset = 0; offset < codes.length; offset++)
      if (specialIds.has(elementAt(segment.ids, offset))) codes[offset] = code('special')
  })
  return {
    kind: 'category',
    name: 'span',
    title: 'Span kind',
    explanation: 'Thinking, tool calls and their arguments, text, special tokens, context',
    categories: [
      { label: 'think', colour: tint(2) },
      { label: 'call', colour: tint(0) },
      { label: 'argument', colour: tint(5) },
      { label: 'text', colour: tint(3) },
      { label: 'special', colour: tint(6) },
      { label: 'context', colour: undefined },
    ],
    read,
  }
}

/** Colours the tokens of tool calls by the name of the tool. */
export function toolMode(segments: readonly SegmentView[]): CategoryMode {
  const names = distinct(segments.flatMap((segment) => callsOf(segment).map(toolName)))
  return {
    kind: 'category',
    name: 'tool',
    title: 'Tool',
    explanation: 'Tokens of tool calls, by the tool that is called',
    categories: categoriesOf(names),
    read: codesOnce((segment, codes) => {
      for (const call of callsOf(segment)) codes.fill(names.indexOf(toolName(call)), call.span.start, call.span.end)
    }),
  }
}

/** Colours each tool call differently. */
export function callMode(segments: readonly SegmentView[]): CategoryMode {
  const places = new Map(
    segments.flatMap(callsOf).map(({ id, ...call }, index) => [id, { index, label: `${id} ${toolName(call)}` }]),
  )
  return {
    kind: 'category',
    name: 'call',
    title: 'Tool call',
    explanation: 'Tokens of tool calls, each call by itself; colours repeat after eight',
    categories: categoriesOf([...places.values()].map(({ label }) => label)),
    read: codesOnce((segment, codes) => {
      for (const { id, span } of callsOf(segment)) codes.fill(places.get(id)?.index ?? NONE, span.start, span.end)
    }),
  }
}

const callsOf = (segment: SegmentView): ResponseView['toolCalls'] =>
  segment.kind === 'response' ? segment.toolCalls : []

const toolName = ({ kind, name }: Pick<ResponseView['toolCalls'][number], 'kind' | 'name'>): string =>
  kind === 'malformed' ? 'malformed' : (name ?? 'malformed')

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)]

const categoriesOf = (labels: readonly string[]): readonly Category[] =>
  labels.map((label, index) => ({ label, colour: tint(index) }))

/** Returns a reader that fills an array for the whole segment at once, since each span covers many tokens. */
function codesOnce(fill: (segment: SegmentView, codes: Float32Array) => void): CategoryMode['read'] {
  return memoizeByIdentity((segment) => {
    const codes = new Float32Array(segment.ids.length).fill(NONE)
    fill(segment, codes)
    return (offset) => float32At(codes, offset)
  })
}
