'use client'
import { createSerializer, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import { SORT_ORDERS } from '#lib/api/library.ts'
import { firstRowOrder, ROW_COLUMNS, type RowFilter } from '#lib/browser/file-index/listed-rows.ts'

const NAMES = {
  q: parseAsString.withDefault(''),
  outcome: parseAsString.withDefault(''),
  sort: parseAsStringLiteral(ROW_COLUMNS).withDefault('place'),
  order: parseAsStringLiteral(SORT_ORDERS),
}

const serialize = createSerializer(NAMES)

/** Returns the filter and order that the address of the list stores, and functions that change them. The file is not in the address. */
export function useFileAddress() {
  const [{ row, sort: by, order, ...texts }, set] = useAddress({ ...NAMES, row: parseAsInteger })
  const filter: RowFilter = { ...texts, sort: { by, order: order ?? firstRowOrder(by) } }
  return {
    filter,
    /** Index of the row that was opened last. */
    row: row ?? undefined,
    setRow: (index: number) => set({ row: index }),
    setFilter: ({ sort, ...change }: Partial<RowFilter>) =>
      set({
        ...change,
        ...(sort && { sort: sort.by, order: sort.order === firstRowOrder(sort.by) ? null : sort.order }),
      }),
  }
}

/** Returns the query of a list; '' for the whole file in its order. */
export const listQuery = ({ sort: { by, order }, ...texts }: RowFilter): string =>
  serialize({ ...texts, sort: by, order: order === firstRowOrder(by) ? null : order }).replace(/^\?/, '')

/** Returns the filter and order of such a query. */
export function filterOfQuery(query: string): RowFilter {
  const parameters = new URLSearchParams(query)
  const by = NAMES.sort.parse(parameters.get('sort') ?? '') ?? 'place'
  return {
    q: parameters.get('q') ?? '',
    outcome: parameters.get('outcome') ?? '',
    sort: { by, order: NAMES.order.parse(parameters.get('order') ?? '') ?? firstRowOrder(by) },
  }
}
