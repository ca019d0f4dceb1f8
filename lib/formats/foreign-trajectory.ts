/** Builds a trajectory from a trainer's file. Information that such files lack is omitted and reported. */
import { type JsonObject, storable } from '#lib/json/json-object.ts'
import { FORMAT, type Problem, type Segment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RecordSource } from './format.ts'

interface Found {
  readonly format: string
  readonly segments: readonly Segment[]
  readonly outcome: Trajectory['outcome']
  readonly reward: unknown
  /** Information that this file lacks, in addition to what all such files lack. */
  readonly lacked: readonly string[]
  readonly group?: Trajectory['group']
  readonly routedExperts?: readonly string[] | undefined
  readonly imageData?: readonly string[] | undefined
  /** Content without a field; undefined if there is none. */
  readonly rest: JsonObject | undefined
}

/** Returns the trajectory of a file's content. */
export function foreignTrajectory(found: Found, { file, now, newId }: RecordSource): Trajectory {
  const { format, segments, outcome, reward, lacked, group, routedExperts, imageData, rest } = found
  const problems = rewardProblems(reward)
  return {
    format: FORMAT,
    id: newId(),
    createdAt: now,
    ...(typeof reward === 'number' && { reward: problems.length > 0 ? null : reward }),
    ...(group && { group }),
    model: { tools: [] },
    vocab: {},
    segments,
    outcome,
    provenance: {
      kind: 'import',
      format,
      ...(file !== undefined && { file }),
      lacked: ['texts of the tokens', 'model, tools and sampling parameters', ...lacked],
    },
    ...(problems.length > 0 && { problems }),
    ...(routedExperts && routedExperts.length > 0 && { routedExperts }),
    ...(imageData && imageData.length > 0 && { imageData }),
    ...(rest && { foreign: { [format]: storable(rest) } }),
  }
}

function rewardProblems(reward: unknown): Problem[] {
  if (typeof reward !== 'number' || Number.isFinite(reward)) return []
  return [
    {
      kind: 'number',
      message: 'The reward is a number that JSON cannot represent.',
      column: 'reward',
      raw: String(reward),
    },
  ]
}
