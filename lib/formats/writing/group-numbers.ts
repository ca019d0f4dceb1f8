/** Numbers groups and samples as trainers do: with whole numbers that are unique within one file. */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'

type Group = NonNullable<Trajectory['group']>

/** A sample of a group, as far as its numbers depend on it. */
export interface GroupedSample extends Pick<Group, 'id' | 'index'> {
  /** The same for all samples of the group and for no others: files number their groups independently. Omitted: the id of the group. */
  readonly name?: string | undefined
}

/** The numbers of a sample in a file. */
export interface SampleNumbers {
  /** The same for all samples of a group. */
  readonly groupIndex: number
  /** Index of the sample, unique within the file. Those of a group are in the order of their own indices, except the later paths of a rollout. */
  readonly index: number
  /** Id of the group, unique within the file. */
  readonly groupId: string
  /** Index of the first sample of the rollout, if the file has several paths of it. Omitted: it has one. */
  readonly rollout?: number
}

/**
 * Numbers the groups of one file in the order of their first samples. A group whose id is a whole number came from such a file and keeps its
 * numbers, unless an earlier group of this file has them. The others get free numbers. The samples of a group stay in order, and a later path
 * of the same rollout gets a free index. Undefined for samples without a group.
 */
export function numberSamples(samples: readonly (GroupedSample | undefined)[]): readonly (SampleNumbers | undefined)[] {
  const present = samples.filter((sample) => sample !== undefined)
  const groups = Map.groupBy(present, nameOf)
  const owners = new Map<string, string>()
  for (const sample of present) if (!owners.has(sample.id)) owners.set(sample.id, nameOf(sample))
  const keepsNumbers = (sample: GroupedSample) => isNumbered(sample) && owners.get(sample.id) === nameOf(sample)

  const taken = new Set(present.filter(isNumbered).map(({ id }) => Number(id)))
  let groupIndex = 0
  let end = endOf(present.filter(keepsNumbers))
  const starts = new Map<string, { readonly groupIndex: number; readonly index: number }>()
  for (const [name, members] of groups) {
    if (members.every(keepsNumbers)) continue
    while (taken.has(groupIndex)) groupIndex++
    starts.set(name, { groupIndex, index: end })
    groupIndex++
    end += endOf(members)
  }

  const used = new Set<number>()
  const paths = Map.groupBy(present, rolloutOf)
  const firstPaths = new Map<string, number>()
  return samples.map((sample) => {
    if (!sample) return undefined
    const name = nameOf(sample)
    const start = starts.get(name) ?? { groupIndex: Number(sample.id), index: 0 }
    const own = start.index + sample.index
    const index = used.has(own) ? end++ : own
    used.add(index)
    const groupId = owners.get(sample.id) === name ? sample.id : String(start.groupIndex)
    const numbers = { groupIndex: start.groupIndex, index, groupId }
    const rolloutKey = rolloutOf(sample)
    if (paths.get(rolloutKey)?.length === 1) return numbers
    const rollout = firstPaths.get(rolloutKey) ?? index
    firstPaths.set(rolloutKey, rollout)
    return { ...numbers, rollout }
  })
}

const nameOf = ({ name, id }: GroupedSample): string => name ?? id

/** Returns the same text for all paths of a rollout. */
const rolloutOf = (sample: GroupedSample): string => JSON.stringify([nameOf(sample), sample.index])

/** The id must be the canonical number, so that "7" and "007" stay two groups. */
const isNumbered = ({ id }: GroupedSample): boolean => Number.isSafeInteger(Number(id)) && String(Number(id)) === id

/** Returns the first index after those of the samples. */
const endOf = (samples: readonly GroupedSample[]): number =>
  samples.reduce((end, { index }) => Math.max(end, index + 1), 0)
