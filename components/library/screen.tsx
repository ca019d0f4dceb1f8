'use client'
/** The library: search, labels, export and deletion of all stored trajectories. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import {
  compareBothHref,
  inspectorHref,
  MOST_IN_ADDRESS,
  reportOfKeysHref,
  reportOfLibraryHref,
} from '#components/shell/hrefs.ts'
import { Link, useNavigation } from '#components/shell/navigation.tsx'
import { titleText } from '#components/shell/row-texts.ts'
import { Shell } from '#components/shell/shell.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { TRAINER_CUT, TrainerCutFields } from '#components/token-view/overview/trainer-cut.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { choicesOptions, trajectoriesOptions } from '#lib/browser/library/library.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import { usePreference } from '#lib/browser/preference.ts'
import { useLibraryState } from './address.ts'
import { CutSentence } from './cut-count.tsx'
import { GroupFacts } from './group-facts.tsx'
import { LabelsForm } from './labels-form.tsx'
import { LibraryFilters } from './library-filters.tsx'
import { Pager } from './pager.tsx'
import { RowFacts } from './row-facts.tsx'
import { keysOf, type TableEntry, tableEntries } from './table-entries.ts'
import { groupHref, type RowAction, TrajectoryTable } from './trajectory-table.tsx'

const SeveralExport = dynamic(async () => (await import('#components/shell/several-export.tsx')).SeveralExport, {
  loading: () => null,
})

const PAGE_LENGTH = 50
/** Number of samples shown for a group; the server returns at most as many. */
const MOST_SAMPLES = 200
/** Number of keys named in an error. */
const SHOWN = 5

/** Trajectories that were deleted by one action. */
interface Removal {
  readonly keys: readonly string[]
  /** Keys of the trajectories that the server deleted. */
  readonly removed: Promise<readonly string[]>
}

/** Returns the removals with `keys` as the rest of one of them; an empty rest removes it. */
const replaced = (removals: readonly Removal[], removal: Removal, keys: readonly string[]): readonly Removal[] =>
  removals.flatMap((other) => {
    if (other.removed !== removal.removed) return [other]
    return keys.length > 0 ? [{ ...other, keys }] : []
  })

interface Trouble {
  readonly title: string
  readonly hint: string | undefined
}

/** Shows the page of the library. */
export function LibraryScreen() {
  const state = useLibraryState()
  const library = useLibrary()
  const { go } = useNavigation()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  /** Deletions that can be undone, the latest last. */
  const [removals, setRemovals] = useState<readonly Removal[]>([])
  const [exported, setExported] = useState<readonly string[]>()
  const [trouble, setTrouble] = useState<Trouble>()
  /** In a narrow window the panel replaces the list. */
  const [isPanelShown, setIsPanelShown] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLElement>(null)
  const panel = useRef<HTMLElement>(null)

  const given = Object.fromEntries(Object.entries(state.filter).filter(([, value]) => value !== ''))
  const [cut, setCut] = usePreference(TRAINER_CUT)
  const cutQuery = cut ? { cut: cut.tokens, overlong: cut.overlong } : {}
  const isFiltered = Object.keys(given).length > 0
  const {
    data: page,
    error,
    isFetching,
    refetch,
  } = useQuery({
    ...trajectoriesOptions({
      ...given,
      sort: state.sort.by,
      order: state.sort.order,
      limit: PAGE_LENGTH,
      ...cutQuery,
      ...(state.foldsGroups && { groups: 'folded' as const }),
      ...(state.cursor !== undefined && { cursor: state.cursor }),
    }),
    placeholderData: keepPreviousData,
  })
  const { data: choices } = useQuery(choicesOptions())
  /** Query of this list, passed to the trajectories that are opened from it. */
  const listQuery = new URLSearchParams({
    ...given,
    sort: state.sort.by,
    order: state.sort.order,
    ...Object.fromEntries(Object.entries(cutQuery).map(([name, value]) => [name, String(value)])),
    ...(state.foldsGroups && { groups: 'folded' }),
  }).toString()
  const rows = page?.trajectories ?? []
  const groups = page?.groups ?? []
  const openIds = groups.map(({ id }) => id).filter((id) => state.open.includes(id))
  const samplesOf = useQueries({
    queries: openIds.map((group) => ({
      ...trajectoriesOptions({
        group,
        // Samples that were added together are in the order of the group.
        ...(state.sort.by === 'added'
          ? { sort: 'added' as const, order: 'asc' as const }
          : { sort: state.sort.by, order: state.sort.order }),
        limit: MOST_SAMPLES,
        ...cutQuery,
      }),
      placeholderData: keepPreviousData,
    })),
  })
  const entries = tableEntries(
    rows,
    groups,
    new Map(openIds.map((id, index) => [id, samplesOf[index]?.data?.trajectories])),
  )
  const entry = entries.find(({ key }) => key === state.row)
  const shown = entry?.kind === 'trajectory' ? entry.row : undefined
  const failure = error ?? samplesOf.find((samples) => samples.error)?.error

  /** Shows an error of the server; any other error is a bug and thrown again. */
  const tell = (reason: unknown) => {
    if (!(reason instanceof ApiError)) throw reason
    setTrouble({ title: reason.message, hint: reason.hint })
  }
  const titleOf = (key: string | undefined) =>
    key === undefined
      ? null
      : list.current?.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"] [data-title]`)
  const focusTitle = (key: string | undefined) => (titleOf(key) ?? search.current)?.focus()
  const remove = async (keys: readonly string[]) => {
    setTrouble(undefined)
    setIsPanelShown(false)
    // The next row receives the focus while the deleted one is still mounted.
    const stays = (one: TableEntry) => keysOf(one).some((key) => !keys.includes(key))
    const last = entries.findLastIndex((one) => !stays(one))
    const next = entries.slice(last + 1).find(stays) ?? entries.slice(0, last + 1).findLast(stays)
    state.setRow(next?.key)
    focusTitle(next?.key)
    const request = library.remove(keys)
    // The removal is added immediately, so that it can be undone before the server answers.
    const removal: Removal = { keys, removed: request.then(({ done }) => done) }
    setRemovals((before) => [...before, removal])
    const { done: removed, refused } = await request
    setChosen((before) => new Set([...before].filter((key) => !removed.includes(key))))
    setRemovals((before) => replaced(before, removal, removed))
    const [first] = refused
    if (!first) return
    if (refused.some(({ key }) => key === state.row)) {
      state.setRow(state.row)
      focusTitle(state.row)
    }
    const row = entries.find(({ key }) => key === first.key)?.row
    const what = refused.length > 1 ? `${refused.length} stay. The first` : `“${row ? titleText(row) : first.key}”`
    setTrouble({ title: `${what}: ${first.error.message}`, hint: first.error.hint })
  }
  const undo = async () => {
    const removal = removals.at(-1)
    if (!removal) return
    setTrouble(undefined)
    const { done: restored, refused } = await library.restore(
      (await removal.removed).filter((key) => removal.keys.includes(key)),
    )
    const gone = refused.filter(({ error }) => error.status === 404).map(({ key }) => key)
    const left = refused.filter(({ error }) => error.status !== 404)
    // Trajectories that are gone cannot be restored; the others can, when the server responds.
    const rest = left.map(({ key }) => key)
    setRemovals((before) => replaced(before, removal, rest))
    // The undo button may be unmounted now, and the query updates the list in a timeout.
    if (left.length === 0) setTimeout(() => focusTitle(restored.find(titleOf) ?? state.row))
    if (gone.length > 0)
      setTrouble({
        title: `Deleted permanently: ${gone.slice(0, SHOWN).join(', ')}${gone.length > SHOWN ? ` and ${gone.length - SHOWN} more` : ''}`,
        hint: left[0]?.error.message ?? 'Deleted trajectories can be restored for at least a day.',
      })
    else if (left[0]) tell(left[0].error)
  }
  const exportChosen = () => setExported([...chosen])
  const act = async ({ kind, key }: RowAction) => {
    const found = entries.find((one) => one.key === key)
    if (kind === 'unfold' || kind === 'fold') {
      if (found?.kind !== 'group') return
      const { id } = found.group
      await state.setOpen(kind === 'unfold' ? [...state.open, id] : state.open.filter((other) => other !== id))
      return
    }
    if (kind === 'delete') {
      const keys = found ? keysOf(found) : [key]
      return remove(keys.every((one) => chosen.has(one)) ? [...chosen] : keys)
    }
    const written = state.setRow(key)
    if (kind === 'open') {
      // The address is written with a delay; without waiting, it would navigate back to this page.
      await written
      void go(inspectorHref(key, listQuery))
    }
    if (kind !== 'edit') return
    setIsPanelShown(true)
    // The panel shows this row only in the next frame.
    requestAnimationFrame(() => panel.current?.querySelector('input')?.focus())
  }
  const choose = (keys: readonly string[], isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, ...keys] : [...before].filter((key) => !keys.includes(key))))
  const leavePanel = () => {
    setIsPanelShown(false)
    requestAnimationFrame(() => focusTitle(state.row))
  }
  useKeys({ '/': () => search.current?.focus(), u: undo })

  return (
    <Shell title="Library" trajectory={undefined}>
      <main
        className="grid min-h-0 grid-rows-[minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_300px] 2xl:grid-cols-[minmax(0,1fr)_340px]"
        data-library={isFetching ? 'loading' : 'idle'}
      >
        <section
          aria-label="Trajectories"
          className={`grid min-h-0 min-w-0 grid-rows-[auto_auto_minmax(0,1fr)_auto] lg:grid ${isPanelShown ? 'max-lg:hidden' : ''}`}
        >
          <div className="flex flex-wrap items-center justify-between gap-2 border-line border-b px-3.5 py-2">
            <LibraryFilters
              filter={state.filter}
              choices={choices}
              sort={state.sort}
              onFilter={state.setFilter}
              onSort={state.setSort}
              isFolded={state.foldsGroups}
              onFold={(isFolded) => state.setGroups(isFolded ? 'folded' : 'open')}
              hasCut={cut !== null}
              searchRef={search}
            />
            {page && (
              <span className="flex flex-wrap items-center gap-2 max-md:w-full">
                <Popover
                  label="Trainer’s cut"
                  button={
                    cut && page.cut && page.cut.losing > 0
                      ? `Trainer’s cut: ${countText(page.cut.losing)} lose tokens`
                      : 'Trainer’s cut'
                  }
                >
                  <div className="grid w-[min(380px,calc(100vw-48px))] gap-3 text-xs">
                    <TrainerCutFields cut={cut} onCut={setCut} />
                    {cut && page.cut ? (
                      <CutSentence count={page.cut} cut={cut} />
                    ) : (
                      <p className="text-dim">
                        Set your trainer’s maximum length to count and mark trajectories that lose trained tokens.
                      </p>
                    )}
                    {page.cut && page.cut.losing > 0 && state.filter.health !== 'lost' && (
                      <Button className="justify-self-start" onClick={() => state.setFilter({ health: 'lost' })}>
                        Show only these
                      </Button>
                    )}
                  </div>
                </Popover>
                {page.total > 0 && state.filter.health !== 'lost' && (
                  <Button onClick={() => go(reportOfLibraryHref(given))}>Drift report</Button>
                )}
                <Pager page={page} onCursor={state.setCursor} />
              </span>
            )}
          </div>
          <div>
            {(trouble || failure) && (
              <Banner
                tone="bad"
                title={trouble?.title ?? failure?.message ?? ''}
                hint={trouble ? trouble.hint : failure instanceof ApiError ? failure.hint : undefined}
              >
                {trouble ? (
                  <Button onClick={() => setTrouble(undefined)}>Dismiss</Button>
                ) : (
                  <Button onClick={() => (state.cursor === undefined ? refetch() : state.setCursor(undefined))}>
                    {state.cursor === undefined ? 'Try again' : 'Show the first page'}
                  </Button>
                )}
              </Banner>
            )}
          </div>
          <section ref={list} aria-label="List" className="min-h-0 overflow-y-auto">
            {rows.length > 0 ? (
              <TrajectoryTable
                entries={entries}
                sort={state.sort}
                onSort={state.setSort}
                chosen={chosen}
                onChoose={choose}
                shown={state.row}
                onAction={act}
              />
            ) : (
              page &&
              (isFiltered ? (
                <Nothing title="No matches">
                  <p>
                    Every word must occur in the title, question, tags, note, model, outcome or file name, or begin a
                    word that the model wrote. Numbers: reward&gt;0.5, tokens:1000-2000, logprob&lt;-2.
                  </p>
                  <Button
                    onClick={() => state.setFilter({ q: '', outcome: '', tag: '', source: '', health: '', group: '' })}
                  >
                    Clear search and filters
                  </Button>
                </Nothing>
              ) : (
                <Nothing title="Nothing is stored yet">
                  <p>
                    Run the agent in the{' '}
                    <Link href="/" className="text-accent underline">
                      playground
                    </Link>
                    , or open a file: both are stored here.
                  </p>
                </Nothing>
              ))
            )}
            {!page && !error && (
              <p className="p-4 text-faint" role="status">
                Loading…
              </p>
            )}
          </section>
          <div>
            {(chosen.size > 0 || removals.length > 0) && (
              <div className="flex flex-wrap items-center gap-2 border-line border-t bg-panel px-3.5 py-2">
                {chosen.size > 0 && (
                  <>
                    <span className="mr-1 font-medium">{chosen.size} selected</span>
                    <Button onClick={exportChosen}>Export…</Button>
                    {chosen.size === 2 && (
                      <Button onClick={() => go(compareBothHref(...([...chosen] as [string, string])))}>Compare</Button>
                    )}
                    {chosen.size <= MOST_IN_ADDRESS && (
                      <Button onClick={() => go(reportOfKeysHref([...chosen]))}>Drift report of these</Button>
                    )}
                    <Button onClick={() => remove([...chosen])}>Delete</Button>
                    <Button look="quiet" onClick={() => setChosen(new Set())}>
                      Clear
                    </Button>
                  </>
                )}
                <span className="flex-1" />
                {removals.length > 0 && (
                  <>
                    <span role="status">{removals.at(-1)?.keys.length} deleted.</span>
                    <Button onClick={undo}>Undo</Button>
                  </>
                )}
              </div>
            )}
          </div>
        </section>
        <aside
          ref={panel}
          aria-label="Selected trajectory"
          onKeyDown={(event) => event.key === 'Escape' && leavePanel()}
          className={`min-h-0 overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-l ${isPanelShown ? '' : 'hidden'}`}
        >
          <Button className="mb-3 lg:hidden" onClick={leavePanel}>
            Back to the list
          </Button>
          {entry?.kind === 'group' ? (
            <div>
              <Heading>Group</Heading>
              <GroupFacts group={entry.group} row={entry.row} />
              {entry.group.keys.length > MOST_SAMPLES && (
                <p className="mt-2 text-dim text-xs">
                  The first {MOST_SAMPLES} are shown under its row.{' '}
                  <button
                    type="button"
                    className="text-accent underline"
                    onClick={() => state.setFilter({ group: entry.group.id })}
                  >
                    Show all
                  </button>
                </p>
              )}
              <div className="mt-4 flex flex-wrap gap-2">
                <Button look="primary" onClick={() => go(groupHref(entry.row.key, entry.group.id))}>
                  Open in playground
                </Button>
                <Button onClick={() => setExported(entry.group.keys)}>Export…</Button>
                <Button onClick={() => remove(entry.group.keys)}>Delete</Button>
              </div>
            </div>
          ) : shown ? (
            <div>
              <Heading>Labels</Heading>
              <LabelsForm
                key={shown.key}
                labels={shown}
                question={shown.question}
                knownTags={choices?.tags.map(({ tag }) => tag) ?? []}
                onChange={(change) => library.label(shown.key, change)}
              />
              <Heading>Trajectory</Heading>
              <RowFacts row={shown} />
              <div className="mt-4 flex gap-2">
                <Button look="primary" onClick={() => act({ kind: 'open', key: shown.key })}>
                  Open
                </Button>
                <Button onClick={() => remove([shown.key])}>Delete</Button>
              </div>
            </div>
          ) : (
            <p className="text-faint text-xs">
              Click a row or use the arrow keys to see a trajectory here. Enter opens it, E edits it, Space selects it,
              Delete deletes it. The right arrow expands a group, the left arrow collapses it.
            </p>
          )}
        </aside>
      </main>
      {exported && <SeveralExport keys={exported} onClose={() => setExported(undefined)} onSaveError={tell} />}
    </Shell>
  )
}

function Nothing({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid h-full place-content-center justify-items-center gap-3 p-6 text-center text-dim">
      <h2 className="font-semibold text-ink">{title}</h2>
      {children}
    </div>
  )
}

/** Calls actions on single keys, outside fields and dialogs. */
function useKeys(actions: Readonly<Record<string, () => unknown>>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isTyping =
      event.target instanceof Element &&
      event.target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null
    const action = actions[event.key]
    if (!action || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  })
  useEffect(() => {
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
