/** Numbers groups and samples as trainers do: with whole numbers that are unique within one file. */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'

type Group = NonNullable<Trajectory['group']>

/** The numbers of a sample in a file. */
export interface SampleNumbers {
  /** The same for all samples of a group. */
  readonly groupIndex: number
  /** Index of the sample, unique within the file. */
  readonly index: number
}

/** Returns the numbers of a group's sample. */
export type SampleNumbering = (group: Group) => SampleNumbers

/**
 * Numbers the groups of one file in the order of their first samples. A group whose id is a whole number came from such
 * a file and keeps its numbers; the others get free numbers, and their samples stay in order.
 */
export function numberGroups(groups: readonly (Group | undefined)[]): SampleNumbering {
  const present = groups.filter((group) => group !== undefined)
  const [numbered, named] = [present.filter(isNumbered), present.filter((group) => !isNumbered(group))]
  const taken = new Set(numbered.map(({ id }) => Number(id)))
  const starts = new Map<string, SampleNumbers>()
  let groupIndex = 0
  let index = endOf(numbered)
  for (const [id, samples] of Map.groupBy(named, (group) => group.id)) {
    while (taken.has(groupIndex)) groupIndex++
    starts.set(id, { groupIndex, index })
    groupIndex++
    index += endOf(samples)
  }
  return (group) => {
    const start = starts.get(group.id) ?? { groupIndex: Number(group.id), index: 0 }
    return { ...start, index: start.index + group.index }
  }
}

/** The id must be the canonical number, so that "7" and "007" stay two groups. */
const isNumbered = ({ id }: Group): boolean => Number.isSafeInteger(Number(id)) && String(Number(id)) === id

/** Returns the first index after those of the samples. */
const endOf = (samples: readonly Group[]): number => samples.reduce((end, { index }) => Math.max(end, index + 1), 0)
