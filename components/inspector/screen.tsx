'use client'
/** The page of one trajectory: where the trajectory comes from, and the messages while it loads. */
import { useQuery } from '@tanstack/react-query'
import { usePathname } from 'next/navigation'
import { type ReactNode, useDeferredValue, useEffect, useEffectEvent, useMemo } from 'react'
import { Deletion } from '#components/library/deletion.tsx'
import { LabelsForm } from '#components/library/labels-form.tsx'
import { continueHref, groupTreeHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { useViewState } from '#components/shell/view-state.ts'
import { clipText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { exampleKey } from '#lib/analysis/compare/side.ts'
import { ApiError } from '#lib/browser/api.ts'
import { FileError } from '#lib/browser/files/file-error.ts'
import type { OpenedFile } from '#lib/browser/files/opened-file.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { choicesOptions } from '#lib/browser/library/library.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import { pageReader } from '#lib/browser/page-reader.ts'
import { exampleOptions, followedTrajectoryOptions } from '#lib/browser/queries.ts'
import type { Labels } from '#lib/trajectory/format/labels.ts'
import { firstUserText } from '#lib/trajectory/messages/first-user-text.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { BranchPart } from './branch/branch-part.ts'
import type { ListPlace } from './list-walk.tsx'
import { LaterParts } from './warm-up/later-parts.tsx'

const Inspector = lazyPart(async () => (await import('./inspector.tsx')).Inspector)
// The inspector and the reader load in parallel with the trajectory, which takes longer. If this fails, they are loaded again
// when they are needed.
if (typeof window !== 'undefined') {
  pageReader.load()
  Inspector.preload()
  // The card of a token that the address selects is in the first view, and the tool calls are below it.
  if (new URLSearchParams(window.location.search).has('at')) {
    LaterParts.TokenCard.preload()
    BranchPart.preload()
  }
}

const RestoreButton = lazyPart(async () => (await import('#components/library/deleted-notice.tsx')).RestoreButton)
const SampleNeighbours = lazyPart(async () => (await import('./sample-neighbours.tsx')).SampleNeighbours)

/** Delay before storing, so that on a small machine the work of the server does not delay the first view. */
const STORE_AFTER_MS = 300

/** Shows a stored trajectory. */
export function StoredScreen({ storedKey }: { readonly storedKey: string }) {
  return <KeptScreen storedKey={storedKey} fresh={undefined} identity={storedKey} />
}

/**
 * Shows a file that was just opened, before it is stored. When it is stored, the address changes to that of the stored
 * trajectory, and nothing is read again.
 */
export function OpenedScreen() {
  const { opened, store, openingOf } = useOpenedFile()
  const addressed = keyIn(usePathname())
  const fresh = opened.kind === 'shown' && addressed === undefined ? opened : undefined
  const waiting = fresh?.storing.kind === 'waiting' ? fresh.opening : undefined
  const keep = useEffectEvent(store)
  useEffect(() => {
    if (waiting === undefined) return
    const later = setTimeout(() => keep(), STORE_AFTER_MS)
    return () => clearTimeout(later)
  }, [waiting])
  const arrived = opened.kind === 'stored' && addressed === undefined ? opened.key : undefined
  const storedKey = addressed ?? arrived
  const opening = fresh?.opening ?? (storedKey === undefined ? undefined : openingOf(storedKey))
  // The stored trajectory is the one shown before, so it is not drawn again.
  const identity = opening === undefined ? storedKey : `opening ${opening}`
  const shown = useMemo(() => ({ storedKey, fresh, identity }), [storedKey, fresh, identity])
  // Everything that depends on the key is rendered in slices, so that storing does not block the page that is already read.
  const kept = useDeferredValue(shown)
  return (
    <>
      <Arrival storedKey={arrived} />
      <KeptScreen {...kept} />
    </>
  )
}

/** Replaces the address by that of the stored trajectory. The view is part of it, because the browser's address is updated with a delay. */
function Arrival({ storedKey }: { readonly storedKey: string | undefined }) {
  const { addressAt } = useViewState()
  const arrive = useEffectEvent((key: string) =>
    window.history.replaceState(null, '', addressAt(`/t/${encodeURIComponent(key)}`)),
  )
  useEffect(() => {
    if (storedKey !== undefined) arrive(storedKey)
  }, [storedKey])
  return null
}

/** Returns the key of a stored trajectory; undefined for other addresses. */
function keyIn(path: string): string | undefined {
  const [, key] = /^\/t\/(.+)$/.exec(path) ?? []
  return key === undefined ? undefined : decodeURIComponent(key)
}

interface KeptScreenProps {
  readonly storedKey: string | undefined
  /** A file that is not stored yet. */
  readonly fresh: Extract<OpenedFile, { kind: 'shown' }> | undefined
  /** Identity of the content: another identity resets the state of the screen. */
  readonly identity: string | undefined
}

function KeptScreen({ storedKey, fresh, identity }: KeptScreenProps) {
  const { data: stored, error } = useQuery(followedTrajectoryOptions(storedKey))
  const { list } = useViewState()
  const data = fresh ? fresh.trajectory : stored
  const continuation = data && continueHref(storedKey, data)
  return (
    <TrajectoryScreen
      key={identity}
      trajectory={data}
      storedKey={storedKey}
      comparedKey={storedKey}
      error={storedKey === undefined ? NOTHING_OPEN : error}
      notice={
        fresh?.storing.kind === 'failed' ? (
          <NotStored error={fresh.storing.error} />
        ) : (
          stored && (
            <Deletion storedKey={storedKey} isShown={fresh === undefined && stored.outcome.kind !== 'running'} />
          )
        )
      }
      remedy={
        error instanceof ApiError && error.code === 'DELETED' && <RestoreButton storedKey={storedKey} error={error} />
      }
      labels={
        storedKey === undefined ? (
          <>
            <About trajectory={data} />
            <p role="status" className="mt-2 text-faint text-xs">
              {fresh?.storing.kind === 'failed' ? 'Not stored.' : 'Storing…'}
            </p>
          </>
        ) : (
          <StoredLabels storedKey={storedKey} trajectory={data} />
        )
      }
    >
      {data && storedKey !== undefined && (
        <p className="grid justify-items-start gap-1.5">
          {data.group &&
            data.provenance.kind !== 'import' &&
            (list !== undefined ? (
              <SampleNeighbours groupId={data.group.id} storedKey={storedKey} />
            ) : (
              <Link
                href={groupTreeHref(data.group.id)}
                title="All samples of the group as a tree"
                className="font-medium text-accent hover:underline [overflow-wrap:anywhere]"
              >
                Group {visibleText(clipText(data.group.id, LONG_GROUP))} / sample {data.group.index + 1}
              </Link>
            ))}
          {continuation !== undefined && (
            <Link href={continuation} className="font-medium text-accent hover:underline">
              Continue in the playground
            </Link>
          )}
          <Link
            href={`/templates?t=${encodeURIComponent(storedKey)}`}
            className="font-medium text-accent hover:underline"
          >
            Open in the template lab
          </Link>
        </p>
      )}
    </TrajectoryScreen>
  )
}

/** The labels of a stored trajectory. The tags of the library are read when this is drawn, which is after the tokens. */
function StoredLabels({
  storedKey,
  trajectory,
}: {
  readonly storedKey: string
  readonly trajectory: Labels | undefined
}) {
  const { data: choices } = useQuery(choicesOptions())
  const library = useLibrary()
  const { tags = [], title = null, note = null, reward = null } = trajectory ?? {}
  return (
    <>
      <Heading>Labels</Heading>
      <LabelsForm
        key={storedKey}
        labels={{ title, tags, note, reward }}
        question="none"
        knownTags={choices?.tags.map(({ tag }) => tag) ?? []}
        onChange={(change) => library.label(storedKey, change)}
      />
    </>
  )
}

/** Ids of groups may be hashes or whole prompts. */
const LONG_GROUP = 60

const NOTHING_OPEN = new ApiError(
  0,
  'NOTHING_OPEN',
  'No file is open here.',
  'A file that is not stored is lost when its page is reloaded. Open it again.',
)

/** Reports that storing failed; the trajectory stays visible and can be stored later. */
function NotStored({ error }: { readonly error: ApiError }) {
  const { store } = useOpenedFile()
  return (
    <Banner tone="bad" title={`This trajectory is shown but not stored: ${error.message}`} hint={error.hint}>
      <Button onClick={() => store()}>Try again</Button>
    </Banner>
  )
}

/** Shows an example trajectory, whose labels cannot be changed. */
export function ExampleScreen({ name }: { readonly name: string }) {
  const { data, error } = useQuery(exampleOptions(name))
  return (
    <TrajectoryScreen
      trajectory={data}
      storedKey={undefined}
      comparedKey={exampleKey(name)}
      error={error}
      labels={<About trajectory={data} />}
    />
  )
}

/** Shows the title and the note of a trajectory that is not stored. */
export function About({ trajectory }: { readonly trajectory: TrajectoryView | undefined }) {
  const { title, note } = trajectory ?? {}
  return (
    <>
      <Heading>About</Heading>
      {title !== undefined && <p className="mb-1 font-medium [overflow-wrap:anywhere]">{visibleText(title)}</p>}
      {note !== undefined && <p className="text-dim text-xs [overflow-wrap:anywhere]">{visibleText(note)}</p>}
    </>
  )
}

interface TrajectoryScreenProps {
  readonly trajectory: TrajectoryView | undefined
  /** `undefined` means that the trajectory is not stored. */
  readonly storedKey: string | undefined
  /** Key for comparisons, which examples have too. */
  readonly comparedKey: string | undefined
  readonly error: Error | null
  /** Title, tags, note and reward, as text or as fields. */
  readonly labels: ReactNode
  /** Position in a list of the page; omitted for the list that a stored trajectory was opened from. */
  readonly place?: ListPlace | undefined
  /** Shown above the trajectory. */
  readonly notice?: ReactNode
  /** Action that may resolve the error. */
  readonly remedy?: ReactNode
  /** Further links for this trajectory. */
  readonly children?: ReactNode
}

/** Returns the title of the page, which tells the tabs of a browser apart. */
const nameOf = (trajectory: TrajectoryView | undefined): string =>
  visibleText(
    (trajectory && (trajectory.title || beginningOf(firstUserText(trajectory), LONGEST_NAME))) || 'Trajectory',
  )

/** Longest title of the page in UTF-16 units; the tab of a browser shows less. */
const LONGEST_NAME = 80

/** Shows a trajectory, or why there is none. */
export function TrajectoryScreen({
  trajectory,
  storedKey,
  comparedKey,
  error,
  labels,
  place,
  notice,
  remedy,
  children,
}: TrajectoryScreenProps) {
  return (
    <Shell title={nameOf(trajectory)} trajectory={trajectory} storedKey={storedKey} notice={notice}>
      {trajectory ? (
        <Inspector {...{ trajectory, storedKey, comparedKey, labels, place }}>{children}</Inspector>
      ) : (
        <main className="p-4">
          {error ? (
            <Banner
              tone="bad"
              title={error.message}
              hint={error instanceof ApiError || error instanceof FileError ? error.hint : undefined}
            >
              {remedy}
              <Link href="/library" className="font-medium text-accent underline">
                Open the library
              </Link>
            </Banner>
          ) : (
            <p className="text-faint" role="status">
              Loading…
            </p>
          )}
        </main>
      )}
    </Shell>
  )
}
