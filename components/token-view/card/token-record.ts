/** Everything that is known about a token as a JSON value, for “Copy as JSON”. */

import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { spanPath } from '#lib/trajectory/messages/span-path.ts'
import { rankAt } from '#lib/trajectory/tokens/alternatives.ts'
import { columnNames } from '#lib/trajectory/tokens/column-roles.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionAt, versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { messagePlace } from '../overview/message-place.ts'

/** Returns the JSON value of a token. `rank` is `"> k"` if the sampled token is not among the k recorded alternatives. */
export function tokenRecord(trajectory: TrajectoryView, token: Token): object {
  const { segment, indexInSegment, segmentIndex, alternatives } = token
  const rank = rankAt(segment, indexInSegment)
  return {
    trajectory: trajectory.id,
    index: token.index,
    segment: segmentIndex,
    segmentKind: segment.kind,
    indexInSegment,
    message: messagePlace(trajectory, token).text,
    id: token.id,
    ...textRecord(trajectory.vocab, token.id),
    logprob: token.logprob,
    rank: rank === Number.POSITIVE_INFINITY ? `> ${alternatives.length}` : rank,
    alternatives: alternatives.map(({ id, logprob }) => ({ id, ...textRecord(trajectory.vocab, id), logprob })),
    trained: token.trained,
    spans: spanPath(trajectory, token),
    weightVersion: weightVersionOf(trajectory, token) ?? null,
    columns: Object.fromEntries(columnsOf(trajectory, token).map(({ name, value }) => [name, value])),
  }
}

/** Returns the version of the weights that sampled the token; undefined if it was not recorded. */
export const weightVersionOf = (trajectory: TrajectoryView, { segment, indexInSegment }: Token): string | undefined =>
  versionAt(versionSpans(segment, trajectory), indexInSegment)

interface ColumnValue {
  readonly name: string
  /** `null` means that the column has no number at this token. */
  readonly value: number | null
}

/** Returns the token's value in every column that any segment of the file has. */
export const columnsOf = (trajectory: TrajectoryView, { segment, indexInSegment }: Token): readonly ColumnValue[] =>
  columnNames(trajectory).map((name) => ({ name, value: numberAt(segment.columns?.[name], indexInSegment) }))

function textRecord(vocab: Vocab, id: number): object {
  const entry = vocab[id]
  return entry === undefined ? {} : typeof entry === 'string' ? { text: entry } : { bytes: entry.hex }
}
