'use client'
/** A trajectory of the listed file in the inspector, which is not stored. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useSyncExternalStore } from 'react'
import { About, TrajectoryScreen } from '#components/inspector/screen.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useViewState } from '#components/shell/view-state.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { indexedFile } from '#lib/browser/file-index/indexed-file.ts'
import { listedRows } from '#lib/browser/file-index/listed-rows.ts'
import { placeWords } from '#lib/browser/file-index/sample-row.ts'
import { FileError } from '#lib/browser/files/file-error.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { filterOfQuery } from './address.ts'
import { useStoreRows } from './use-store-rows.ts'

/** Shows the trajectory of a row, counted from 0. */
export function FileRowScreen({ row: index }: { readonly row: number }) {
  const file = useSyncExternalStore(indexedFile.subscribe, indexedFile.state, indexedFile.state)
  const { list = '', besideAt } = useViewState()
  const { go } = useNavigation()
  const { storing, store, forget } = useStoreRows()
  const rows = file.kind === 'shown' ? file.rows : NO_ROWS
  const row = rows[index]
  const opening = file.kind === 'shown' ? file.opening : 0
  const { data, error } = useQuery({
    queryKey: ['rows of the listed file', opening, index],
    queryFn: ({ signal }) => (row ? indexedFile.read(row, signal) : Promise.reject(NOTHING_OPEN)),
    enabled: row !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // A trajectory may have megabytes, and the file can be read again.
    gcTime: 10_000,
    structuralSharing: false,
    retry: false,
  })
  const walked = useMemo(() => listedRows(rows, filterOfQuery(list)).filter((one) => rows[one]?.ok), [rows, list])
  if (file.kind === 'none' || !row)
    return <TrajectoryScreen {...NOT_STORED} trajectory={undefined} error={NOTHING_OPEN} labels={null} />
  const at = walked.indexOf(index)
  const hrefAt = (position: number) => {
    const one = position < 0 ? undefined : walked[position]
    return one === undefined ? undefined : besideAt(`/file/${one}`)
  }
  const keep = async () => {
    const imported = await store([row])
    if (imported) await go(`/t/${encodeURIComponent(imported.trajectories[row.within] ?? imported.trajectories[0])}`)
  }
  return (
    <TrajectoryScreen
      {...NOT_STORED}
      key={`${opening} ${index}`}
      trajectory={data}
      error={error}
      place={{
        name: `in ${file.name}`,
        href: `/file?${new URLSearchParams([...new URLSearchParams(list), ['row', String(index)]])}`,
        number: at < 0 ? undefined : at + 1,
        total: walked.length,
        previous: at < 0 ? undefined : hrefAt(at - 1),
        next: at < 0 ? undefined : hrefAt(at + 1),
      }}
      notice={
        storing.kind === 'failed' && (
          <Banner
            tone="bad"
            title={`This trajectory is shown but not stored: ${storing.error.message}`}
            hint={hintOf(storing.error)}
          >
            <Button onClick={forget}>Dismiss</Button>
          </Banner>
        )
      }
      labels={
        <>
          <About trajectory={data} />
          <p role="status" className="mt-2 mb-1.5 text-faint text-xs">
            Read from {file.name}, {placeWords(row)}. Not stored.
          </p>
          <Button disabled={storing.kind === 'pending'} onClick={keep}>
            {storing.kind === 'pending' ? 'Storing…' : 'Store'}
          </Button>
        </>
      }
    />
  )
}

const NO_ROWS = [] as const
const NOT_STORED = { storedKey: undefined, comparedKey: undefined } as const

const NOTHING_OPEN = new FileError(
  'No file is open here.',
  'A file that is not stored is lost when its page is reloaded. Open it again.',
)
