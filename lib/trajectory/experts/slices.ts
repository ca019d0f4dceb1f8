/** Routed experts in the form of other programs: a slice for each turn (strands-sglang), or rows of layers (slime, verl). */
import { elementAt } from '#lib/util/element-at.ts'
import type { RoutedExperts, Segment, Trajectory } from '../format/trajectory.ts'
import { segmentStarts, tokenCount } from '../tokens/tokens.ts'
import { expertShape, int32Base64, joinedExperts, packExperts, readExperts, unpackExperts } from './routed-experts.ts'

/**
 * Returns a slice for each response: int32 in base64. Together they are the rows of all tokens but the last, in order. Undefined if a
 * token has no experts.
 */
export function expertSlices(trajectory: Trajectory): readonly string[] | undefined {
  const slices: string[] = []
  let end = 0
  for (const segment of trajectory.segments) {
    if (segment.kind !== 'response' || !segment.routedExperts) continue
    const { start, perToken, entries } = unpackExperts(segment.routedExperts)
    if (start !== end) return undefined
    slices.push(int32Base64(entries))
    end += entries.length / perToken
  }
  return end > 0 && end === tokenCount(trajectory) - 1 ? slices : undefined
}

/** Assigns slices to the responses, one to each. Undefined if a slice does not have the rows of its turn. */
export function withExpertSlices(
  segments: readonly Segment[],
  slices: readonly string[],
): readonly Segment[] | undefined {
  if (slices.length !== segments.filter(({ kind }) => kind === 'response').length) return undefined
  let perToken: number | undefined
  return withRows(segments, (start, rows, turn) => {
    const read = readExperts(elementAt(slices, turn), { start, rows, perToken })
    if (!read.ok) return undefined
    perToken = read.experts.perToken
    return read.experts
  })
}

/** Gives each response the rows of its turn: from the last token of the turn before to its own last token but one. */
function withRows(
  segments: readonly Segment[],
  rowsOf: (start: number, rows: number, turn: number) => RoutedExperts | undefined,
): readonly Segment[] | undefined {
  const starts = segmentStarts({ segments })
  const routed: Segment[] = []
  let start = 0
  let turn = 0
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'prompt') {
      routed.push(segment)
      continue
    }
    // A response without tokens at the beginning has no rows.
    const end = Math.max(start, elementAt(starts, index + 1) - 1)
    const routedExperts = rowsOf(start, end - start, turn)
    if (!routedExperts) return undefined
    routed.push({ ...segment, routedExperts })
    start = end
    turn++
  }
  return routed
}

/** Entries by token, layer and choice. */
export type NestedExperts = readonly (readonly (readonly number[])[])[]

/** Returns the experts of all tokens but the last; undefined if a token has none. */
export function nestedExperts(trajectory: Trajectory): NestedExperts | undefined {
  const joined = joinedExperts(trajectory)
  if (!joined || joined.start > 0) return undefined
  const { perToken, entries } = joined
  const rows = entries.length / perToken
  if (rows !== tokenCount(trajectory) - 1) return undefined
  const { layers, perLayer } = expertShape(joined)
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: layers }, (_, layer) => {
      const from = row * perToken + layer * perLayer
      return Array.from(entries.subarray(from, from + perLayer))
    }),
  )
}

/** Assigns the experts of all tokens but the last to the responses. Undefined if they do not belong to these tokens. */
export function withNestedExperts(segments: readonly Segment[], nested: NestedExperts): readonly Segment[] | undefined {
  const isWhole = nested.length === tokenCount({ segments }) - 1 && segments.at(-1)?.kind === 'response'
  return isWhole
    ? withCallExperts(
        segments,
        segments.flatMap(({ kind }) => (kind === 'response' ? [nested] : [])),
      )
    : undefined
}

/**
 * Assigns to each response its rows of those that its call has, which are of all tokens of its prompt and reply, with the last or without.
 * Undefined if a call has fewer, or none.
 */
export function withCallExperts(
  segments: readonly Segment[],
  calls: readonly (NestedExperts | undefined)[],
): readonly Segment[] | undefined {
  const [first = []] = calls[0] ?? []
  const perLayer = first[0]?.length ?? 0
  const perToken = first.length * perLayer
  if (perToken === 0) return undefined
  return withRows(segments, (start, rows, turn) => {
    const own = calls[turn]?.slice(start, start + rows) ?? []
    const isWhole =
      own.length === rows &&
      own.every((row) => row.length === first.length && row.every(({ length }) => length === perLayer))
    return isWhole ? packExperts({ start, perToken, perLayer, entries: Int32Array.from(own.flat(2)) }) : undefined
  })
}
