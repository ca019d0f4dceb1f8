/** Rows of the library's table: trajectories, groups, and the samples of a group that is unfolded. */
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'

export type TableEntry =
  | { readonly kind: 'trajectory'; readonly key: string; readonly row: TrajectorySummary; readonly isInGroup: boolean }
  | {
      readonly kind: 'group'
      readonly key: string
      /** The sample that stands for it. */
      readonly row: TrajectorySummary
      readonly group: GroupSummary
      readonly isOpen: boolean
      /** False: it is open, and its samples are on their way. */
      readonly hasSamples: boolean
    }

/** Of the row of a group: a trajectory and a row of its own name, with a space before it, are never the same. */
export const groupKey = (id: string): string => ` ${id}`

/** Keys of the trajectories that an entry stands for. */
export const keysOf = (entry: TableEntry): readonly string[] =>
  entry.kind === 'group' ? entry.group.keys : [entry.key]

/**
 * `groups`: those that are folded; a group of a single sample is a row like others. `open`: samples of the groups that are
 * unfolded, by the id of the group; undefined: on their way.
 */
export function tableEntries(
  rows: readonly TrajectorySummary[],
  groups: readonly GroupSummary[],
  open: ReadonlyMap<string, readonly TrajectorySummary[] | undefined>,
): readonly TableEntry[] {
  const known = new Map(groups.map((group) => [group.id, group]))
  return rows.flatMap((row): readonly TableEntry[] => {
    const group = row.group ? known.get(row.group.id) : undefined
    if (!group || group.keys.length < 2) return [{ kind: 'trajectory', key: row.key, row, isInGroup: false }]
    const samples = open.get(group.id)
    const isOpen = open.has(group.id)
    return [
      { kind: 'group', key: groupKey(group.id), row, group, isOpen, hasSamples: samples !== undefined },
      ...(samples ?? []).map((sample) => ({
        kind: 'trajectory' as const,
        key: sample.key,
        row: sample,
        isInGroup: true,
      })),
    ]
  })
}
