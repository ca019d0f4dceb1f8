'use client'
import { useQuery } from '@tanstack/react-query'
import { useViewState } from '#components/shell/view-state.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { neighboursOptions } from '#lib/browser/library/neighbours.ts'
import { groupOptions } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ListPlace } from './list-walk.tsx'

/** Query of the library as its page shows it at first: without the samples of value estimates. */
const WHOLE_LIBRARY = { estimates: 'hidden' } as const

/**
 * Returns the position of a trajectory in the list that its address names, or else in the file that was opened with it, or else among the
 * samples of its group, or else in the whole library. Returns undefined until it is known, and for a trajectory that is not stored.
 */
export function useListPlace(trajectory: TrajectoryView, storedKey: string | undefined): ListPlace | undefined {
  const { list, besideAt } = useViewState()
  const { keysWith } = useOpenedFile()
  const file = storedKey === undefined || list !== undefined ? [] : keysWith(storedKey)
  const isOfFile = file.length > 1
  const group =
    storedKey !== undefined && list === undefined && !isOfFile && trajectory.provenance.kind !== 'import'
      ? trajectory.group?.id
      : undefined
  const samples = useQuery(groupOptions(group)).data?.samples ?? []
  const query = new URLSearchParams(list ?? WHOLE_LIBRARY)
  const { data: row } = useQuery(
    neighboursOptions(group === undefined && !isOfFile ? storedKey : undefined, query.toString()),
  )
  const at = (key: string | undefined) => (key === undefined ? undefined : besideAt(`/t/${encodeURIComponent(key)}`))
  if (storedKey === undefined) return undefined
  if (isOfFile) {
    const place = file.indexOf(storedKey)
    return {
      name: 'of the opened file',
      href: '/library',
      number: place + 1,
      total: file.length,
      previous: at(file[place - 1]),
      next: at(file[place + 1]),
    }
  }
  if (group !== undefined) {
    const place = samples.findIndex(({ key }) => key === storedKey)
    return place < 0
      ? undefined
      : {
          name: 'all samples',
          row: 'Sample',
          href: `/?${new URLSearchParams({ t: storedKey, group })}`,
          number: place + 1,
          total: samples.length,
          previous: at(samples[place - 1]?.key),
          next: at(samples[place + 1]?.key),
        }
  }
  query.set('row', storedKey)
  return (
    row && {
      name: list === undefined ? 'in the library' : 'of the list',
      href: `/library?${query}`,
      number: row.isListed ? row.ahead + 1 : undefined,
      total: row.total,
      previous: at(row.previous),
      next: at(row.next),
    }
  )
}
