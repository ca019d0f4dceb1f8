/** The weight versions that sampled a response: as its server reported them, or from a column of numbers. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ResponseSegment } from '../format/trajectory.ts'
import { type ColumnSource, roleColumn } from './column-roles.ts'
import { type NumberColumn, numberAt, type SegmentView } from './trajectory-view.ts'

/** The part of a segment that one version of the weights sampled; indices count from the start of the segment. */
export type VersionSpan = NonNullable<ResponseSegment['weightVersions']>[number]

/** Returns the spans of a segment in order; none if its versions are unknown. */
export function versionSpans(segment: SegmentView, trajectory: ColumnSource): readonly VersionSpan[] {
  if (segment.kind === 'response' && segment.weightVersions) return segment.weightVersions
  const column = roleColumn(segment, trajectory, 'sampledVersion')
  return column ? spansOfColumn(column) : []
}

/** Memoized, because colours and causes ask for each token. */
const spansOfColumn = memoizeByIdentity((column: NumberColumn): readonly VersionSpan[] => {
  const spans: VersionSpan[] = []
  for (let start = 0; start < column.length; ) {
    const version = numberAt(column, start)
    let end = start + 1
    while (end < column.length && numberAt(column, end) === version) end++
    if (version !== null) spans.push({ version: String(version), start, end })
    start = end
  }
  return spans
})

/** Returns the version that sampled a token; undefined if it is unknown. */
export const versionAt = (spans: readonly VersionSpan[], index: number): string | undefined =>
  spans.find(({ start, end }) => start <= index && index < end)?.version
