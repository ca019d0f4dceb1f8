/** Relation between values of the JSON file and tokens of the trajectory, in both directions. */

import type { JsonPath } from '#lib/json/json-path.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Returns the path of a token's id; undefined if there is no such token. */
export function pathOfToken(trajectory: TrajectoryView, token: number): JsonPath | undefined {
  const starts = segmentStarts(trajectory)
  const segment = segmentIndexAt(starts, token)
  return segment < 0 ? undefined : ['segments', segment, 'ids', token - elementAt(starts, segment)]
}

/** Returns the tokens that a value describes: one token, a span, or the tokens of the segment; undefined for none. */
export function tokensOfPath(trajectory: TrajectoryView, path: JsonPath): Span | undefined {
  const [root, number, field, ...rest] = path
  if (root !== 'segments' || typeof number !== 'number') return undefined
  const segment = segmentsOf(trajectory)[number]
  const start = segmentStarts(trajectory)[number]
  if (!segment || start === undefined) return undefined
  const tokens = (from: number, to: number): Span | undefined =>
    to > from ? { start: start + from, end: start + to } : undefined
  const [index] = rest
  const column =
    field === 'columns' ? rest[1] : field === 'topLogprobs' ? cellToken(rest[1], segment.topLogprobs?.k) : index
  if (COLUMNS.has(String(field)) && typeof column === 'number') return tokens(column, column + 1)
  const span = typeof index === 'number' ? spanOf(segment, String(field), index) : undefined
  return span ? tokens(span.start, span.end) : tokens(0, segment.ids.length)
}

const COLUMNS: ReadonlySet<string> = new Set(['ids', 'logprobs', 'mask', 'columns', 'topLogprobs'])

const cellToken = (cell: string | number | undefined, k: number | undefined): number | undefined =>
  typeof cell === 'number' && k !== undefined ? Math.floor(cell / k) : undefined

function spanOf(segment: ReturnType<typeof segmentsOf>[number], field: string, index: number): Span | undefined {
  if (segment.kind === 'prompt') return undefined
  switch (field) {
    case 'thinks':
      return segment.thinks[index]
    case 'toolCalls':
      return segment.toolCalls[index]?.span
    case 'weightVersions':
      return segment.weightVersions?.[index]
    default:
      return undefined
  }
}
