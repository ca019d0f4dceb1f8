/** Groups and samples as trainers number them: by whole numbers that are unique within one file. */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'

type Group = NonNullable<Trajectory['group']>

interface SampleNumbers {
  /** The same for all samples of a group. */
  readonly groupIndex: number
  /** Of the sample: no other sample of the file has it. */
  readonly index: number
}

export type GroupNumbers = (group: Group) => SampleNumbers

/**
 * Numbers the groups of one file, in the order of their first sample. A group whose id is a whole number was read from
 * such a file and keeps its numbers; the others get numbers that are free, and their samples stay in order.
 */
export function numberGroups(groups: readonly (Group | undefined)[]): GroupNumbers {
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

/** Written as the number itself: "7" and "007" stay two groups. */
const isNumbered = ({ id }: Group): boolean => Number.isSafeInteger(Number(id)) && String(Number(id)) === id

/** The first index after those of the samples. */
const endOf = (samples: readonly Group[]): number => samples.reduce((end, { index }) => Math.max(end, index + 1), 0)
