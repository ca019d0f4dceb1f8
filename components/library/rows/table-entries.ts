/** Rows of the library's table: trajectories, groups, and the samples of expanded groups. */
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'

/** A row of the table. */
export type TableEntry =
  | { readonly kind: 'trajectory'; readonly key: string; readonly row: TrajectorySummary; readonly isInGroup: boolean }
  | {
      readonly kind: 'group'
      readonly key: string
      /** The sample that represents the group. */
      readonly row: TrajectorySummary
      readonly group: GroupSummary
      readonly isOpen: boolean
      /** `false` means that the group is expanded and its samples are being loaded. */
      readonly hasSamples: boolean
    }

/** Returns the key of a group's row. It begins with a space, so that it never equals the key of a trajectory. */
export const groupKey = (id: string): string => ` ${id}`

/** Returns the keys of the trajectories that an entry represents. */
export const keysOf = (entry: TableEntry): readonly string[] =>
  entry.kind === 'group' ? entry.group.keys : [entry.key]

/**
 * Returns the rows of the table. `groups` contains the collapsed groups of `rows`; a group with a single sample is an
 * ordinary row. `open` contains the samples of expanded groups by the id of the group; undefined while they are loaded.
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
