/** Numbers the samples of groups that a file names without numbers. */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RecordSource } from './format.ts'

const counts = new WeakMap<RecordSource, Map<string, number>>()

/** Returns the group of the next rollout, which all its paths share: the rollouts of a group are numbered in the order in which their file is read. */
export function nextGroupMember(source: RecordSource, id: string): NonNullable<Trajectory['group']> {
  const known = counts.get(source) ?? new Map<string, number>()
  counts.set(source, known)
  const index = known.get(id) ?? 0
  known.set(id, index + 1)
  return { id, index }
}
