'use client'
/** The page of a group of samples, or of selected trajectories with a common beginning. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { LinkButton } from '#components/shell/link-button.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { clipText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { type ForestSource, groupForestOptions } from '#lib/browser/library/group-forest.ts'
import { pageReader } from '#lib/browser/page-reader.ts'
import { groupOptions } from '#lib/browser/queries.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { useGroupAddress } from './address.ts'
import { SamplesPane } from './samples/samples-pane.tsx'

const GroupPage = lazyPart(async () => (await import('./group-page.tsx')).GroupPage, <Pending isEmpty={false} />)
// The page and the reader load in parallel with the trees, which take longer. If this fails, they are loaded again when they are needed.
if (typeof window !== 'undefined') {
  pageReader.load()
  GroupPage.preload()
}

const SeveralExport = lazyPart(async () => (await import('#components/export/several-export.tsx')).SeveralExport)

/** Longest title; questions may be long, and the ids of groups may be hashes or whole prompts. */
const LONG_TITLE = 60

/** Shows a group by its id, or the trajectories that the address names; `undefined` is for the latter. */
export function GroupScreen({ groupId }: { readonly groupId: string | undefined }) {
  const address = useGroupAddress()
  const { view, keys } = address
  const source: ForestSource = groupId === undefined ? { kind: 'keys', keys } : { kind: 'group', id: groupId }
  const { data: forest, error } = useQuery(groupForestOptions(source, view.formula))
  // The list needs no tokens, so it is shown before a tree that takes long.
  const isSlow = useIsSlow()
  const { data: group } = useQuery(groupOptions(isSlow && !forest && !error ? groupId : undefined))
  const [isExporting, setIsExporting] = useState(false)
  const [exportError, setExportError] = useState<string>()
  const rows = forest?.samples.map(({ row }) => row) ?? group?.samples ?? []
  const title = clipText(
    commonName(rows) ??
      (groupId === undefined
        ? countWithNoun(keys.length, 'selected trajectory', 'selected trajectories')
        : `Group ${groupId}`),
    LONG_TITLE,
  )
  const exportFile = rows.length > 0 ? () => setIsExporting(true) : undefined
  return (
    <Shell
      title={title}
      trajectory={undefined}
      onExport={exportFile}
      notice={
        <>
          {exportError !== undefined && <Banner tone="bad" title={exportError} />}
          {forest && forest.missing.length > 0 && (
            <Banner
              tone="note"
              title={`${countWithNoun(forest.missing.length, 'trajectory is', 'trajectories are')} not stored here: ${forest.missing.join(', ')}`}
              hint="The page shows the others. Import the missing ones, or select trajectories in the library."
            />
          )}
        </>
      }
    >
      {forest ? (
        <GroupPage
          forest={forest}
          title={title}
          groupId={groupId}
          address={address}
          exportFile={() => setIsExporting(true)}
        />
      ) : error ? (
        <Failure error={error} />
      ) : (
        <main
          className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)] lg:grid-cols-[280px_minmax(0,1fr)] lg:grid-rows-1"
          data-group="loading"
        >
          {/* The list may appear before it, and does not move it. */}
          <div className="lg:col-start-2 lg:row-start-1">
            <Pending isEmpty={groupId === undefined && keys.length === 0} />
          </div>
          {group && (
            <aside
              aria-label="Samples"
              className="min-h-0 overflow-y-auto bg-panel p-3.5 lg:order-first lg:border-line lg:border-r"
            >
              <SamplesPane
                title={title}
                groupId={groupId}
                forest={undefined}
                samples={group.samples.map((row) => ({ row }))}
                view={view}
                onView={address.setView}
                by="reward"
                onBy={() => {}}
                farthest={0}
                chosen={undefined}
                onSample={() => {}}
              />
            </aside>
          )}
        </main>
      )}
      {isExporting && (
        <SeveralExport
          keys={rows.map(({ key }) => key)}
          onClose={() => setIsExporting(false)}
          onSaveError={(reason) => setExportError(reason instanceof Error ? reason.message : String(reason))}
        />
      )}
    </Shell>
  )
}

/** Returns the name by which a person knows the samples: their title or their question; undefined if they differ. */
function commonName(rows: readonly TrajectorySummary[]): string | undefined {
  const only = (names: readonly (string | null)[]) => (new Set(names).size === 1 ? names[0]?.trim() : undefined)
  return only(rows.map(({ title }) => title)) || only(rows.map(({ question }) => question)) || undefined
}

/** Time after which the list of samples is requested, in milliseconds. Most trees are there before. */
const LIST_AFTER_MS = 150

function useIsSlow(): boolean {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), LIST_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return isSlow
}

/** Shows why there is no group, with what to do. */
function Failure({ error }: { readonly error: Error }) {
  return (
    <main className="min-h-0 overflow-y-auto" data-group="failed">
      <div className="mx-auto grid max-w-xl gap-3 px-4 py-16">
        <h2 className="font-semibold text-lg">The group cannot be shown</h2>
        <Banner tone="bad" title={error.message} hint={hintOf(error)} />
        <span>
          <LinkButton href="/library">Open the library</LinkButton>
        </span>
      </div>
    </main>
  )
}

/** Message that is shown while there is no tree. */
function Pending({ isEmpty }: { readonly isEmpty: boolean }) {
  return (
    <p className="p-6 text-faint" role="status">
      {isEmpty
        ? 'No trajectory is selected. Select some in the library, then choose “Open as tree”.'
        : 'Reading the samples and where they differ…'}
    </p>
  )
}
