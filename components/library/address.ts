'use client'
import { parseAsArrayOf, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import { firstOrder, type ListSort, SORT_COLUMNS, SORT_ORDERS } from '#lib/api/library.ts'
import type { LibraryFilter } from './library-filters.tsx'

const text = parseAsString.withDefault('')

/** Returns the state of the list that the address stores, and functions that change it. A copied link shows the same list. */
export function useLibraryState() {
  const [{ sort: by, order, cursor, row, groups, estimates, open, ...filter }, set] = useAddress({
    q: text,
    outcome: text,
    tag: text,
    source: text,
    health: text,
    group: text,
    sort: parseAsStringLiteral(SORT_COLUMNS).withDefault('added'),
    order: parseAsStringLiteral(SORT_ORDERS),
    groups: parseAsStringLiteral(['folded', 'open']).withDefault('folded'),
    estimates: parseAsStringLiteral(['hidden', 'shown']).withDefault('hidden'),
    open: parseAsArrayOf(parseAsString).withDefault([]),
    cursor: parseAsString,
    row: parseAsString,
  })
  const sort: ListSort = { by, order: order ?? firstOrder(by) }
  return {
    filter: filter as LibraryFilter,
    sort,
    cursor: cursor ?? undefined,
    /** Whether a group is one row. The list of a single group shows its samples. */
    foldsGroups: groups === 'folded' && filter.group === '',
    /** Whether samples of value estimates are left out: there are often hundreds of them for one trajectory. */
    hidesEstimates: estimates === 'hidden' && filter.group === '',
    setEstimates: (changed: 'hidden' | 'shown') => set({ estimates: changed, cursor: null }),
    /** Ids of the expanded groups. */
    open,
    setGroups: (changed: 'folded' | 'open') => set({ groups: changed, open: null, cursor: null }),
    setOpen: (ids: readonly string[]) => set({ open: ids.length > 0 ? [...ids] : null }),
    /** Key of the row that the panel shows. */
    row: row ?? undefined,
    // A new filter or order begins with its first page.
    setFilter: (change: Partial<LibraryFilter>) => set({ ...change, cursor: null }),
    setSort: (changed: ListSort) =>
      set({ sort: changed.by, order: changed.order === firstOrder(changed.by) ? null : changed.order, cursor: null }),
    setCursor: (changed: string | undefined) => set({ cursor: changed ?? null, row: null }, { history: 'push' }),
    setRow: (key: string | undefined) => set({ row: key ?? null }),
  }
}

/** The state of the list that the address stores. */
export type LibraryState = ReturnType<typeof useLibraryState>
