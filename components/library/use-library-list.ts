'use client'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { TRAINER_CUT } from '#components/token-view/overview/trainer-cut.tsx'
import { choicesOptions, trajectoriesOptions } from '#lib/browser/library/library.ts'
import { useOtherWindows } from '#lib/browser/library/other-windows.ts'
import { usePreference } from '#lib/browser/preference.ts'
import type { LibraryState } from './address.ts'
import { tableEntries } from './rows/table-entries.ts'

const PAGE_LENGTH = 50
/** Number of samples shown for a group; the server returns at most as many. */
export const MOST_SAMPLES = 200

/** Returns the page of the list that the address names, with the samples of the expanded groups. */
export function useLibraryList({ filter, sort, cursor, foldsGroups, hidesEstimates, open, row }: LibraryState) {
  useOtherWindows()
  const filters = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
  const estimates = hidesEstimates ? { estimates: 'hidden' as const } : {}
  const [cut, setCut] = usePreference(TRAINER_CUT)
  const cutQuery = cut ? { cut: cut.tokens, overlong: cut.overlong } : {}
  const {
    data: page,
    error,
    isFetching,
    refetch,
  } = useQuery({
    ...trajectoriesOptions({
      ...filters,
      sort: sort.by,
      order: sort.order,
      limit: PAGE_LENGTH,
      ...cutQuery,
      ...(foldsGroups && { groups: 'folded' as const }),
      ...estimates,
      ...(cursor !== undefined && { cursor }),
    }),
    placeholderData: keepPreviousData,
  })
  const { data: choices } = useQuery(choicesOptions())
  const groups = page?.groups ?? []
  const openIds = groups.map(({ id }) => id).filter((id) => open.includes(id))
  const samplesOf = useQueries({
    queries: openIds.map((group) => ({
      ...trajectoriesOptions({
        group,
        // Samples that were added together are in the order of the group.
        ...(sort.by === 'added'
          ? { sort: 'added' as const, order: 'asc' as const }
          : { sort: sort.by, order: sort.order }),
        limit: MOST_SAMPLES,
        ...cutQuery,
      }),
      placeholderData: keepPreviousData,
    })),
  })
  const entries = tableEntries(
    page?.trajectories ?? [],
    groups,
    new Map(openIds.map((id, index) => [id, samplesOf[index]?.data?.trajectories])),
  )
  return {
    page,
    isFetching,
    refetch,
    failure: error ?? samplesOf.find((samples) => samples.error)?.error,
    /** The filters that are set. */
    given: filters,
    /** Query of all listed trajectories, for their report. */
    reported: { ...filters, ...estimates },
    /** Known values of the filters; undefined until they are loaded. */
    choices,
    entries,
    /** The row that the panel shows. */
    entry: entries.find(({ key }) => key === row),
    cut,
    setCut,
    /** Query of this list, passed to the trajectories that are opened from it. */
    listQuery: new URLSearchParams({
      ...filters,
      sort: sort.by,
      order: sort.order,
      ...Object.fromEntries(Object.entries(cutQuery).map(([name, value]) => [name, String(value)])),
      ...(foldsGroups && { groups: 'folded' }),
      ...estimates,
    }).toString(),
  }
}

/** The shown page of the list. */
export type LibraryList = ReturnType<typeof useLibraryList>
