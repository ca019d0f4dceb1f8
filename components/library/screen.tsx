'use client'
/** The library: search, labels, export and deletion of all stored trajectories. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { inspectorHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { usePrepareInspector } from '#components/shell/use-prepare-inspector.ts'
import { whenIdle } from '#components/shell/when-idle.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { hintOf } from '#lib/browser/hint-of.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { useLibraryState } from './address.ts'
import { DetailsPanel } from './details-panel.tsx'
import { EmptyList } from './empty-list.tsx'
import { ListToolbar } from './list-toolbar.tsx'
import { keysOf } from './rows/table-entries.ts'
import { type RowAction, TrajectoryTable } from './rows/trajectory-table.tsx'
import { useLibraryList } from './use-library-list.ts'
import { useListFocus } from './use-list-focus.ts'
import { type ActionError, actionErrorOf, useRemovals } from './use-removals.ts'

const SelectionBar = lazyPart(async () => (await import('./selection-bar.tsx')).SelectionBar)
const SeveralExport = lazyPart(async () => (await import('#components/export/several-export.tsx')).SeveralExport)

/** Time in milliseconds that the pointer or the focus rests on a row before its page is requested. */
const REST_MS = 80
/** Tokens of the longest trajectory that is read while the pointer or the focus rests on it. A longer one is read when it is opened. */
const MOST_READ_AHEAD = 20_000
/** Time in milliseconds for which a trajectory that was read ahead stays in memory without being shown. */
const READ_AHEAD_MS = 10_000
/** Longest time in milliseconds until the code of the inspector is requested. */
const LONGEST_WAIT_MS = 2_000

/** Shows the page of the library. */
export function LibraryScreen() {
  const state = useLibraryState()
  const list = useLibraryList(state)
  const focus = useListFocus(state.row)
  const { go } = useNavigation()
  const { chosen, choose, clearChosen } = useChosenRows()
  const [exported, setExported] = useState<readonly string[]>()
  const [actionError, setActionError] = useState<ActionError>()
  const { page, entries, failure } = list
  const { remove, undo, undoable, dismiss } = useRemovals({
    entries,
    state,
    focus,
    onActionError: setActionError,
    onRemoved: (keys) => choose(keys, false),
  })
  useKeys({ '/': () => focus.search.current?.focus(), u: undo })

  const prepare = usePrepareInspector()
  const [firstKey] = entries[0] ? keysOf(entries[0]) : []
  const hasRows = firstKey !== undefined
  // The code of the page is the same for all trajectories.
  const prepareFirst = useEffectEvent(() => firstKey !== undefined && prepare(inspectorHref(firstKey, list.listQuery)))
  useEffect(() => (hasRows ? whenIdle(LONGEST_WAIT_MS, prepareFirst) : undefined), [hasRows])
  const cache = useQueryClient()
  const readAhead = (key: string) => void cache.prefetchQuery({ ...trajectoryOptions(key), gcTime: READ_AHEAD_MS })
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const approach = (key: string) => {
    clearTimeout(resting.current)
    const entry = entries.find((one) => one.key === key)
    if (entry?.kind !== 'trajectory') return
    resting.current = setTimeout(() => {
      prepare(inspectorHref(key, list.listQuery))
      if (entry.row.tokens <= MOST_READ_AHEAD) readAhead(key)
    }, REST_MS)
  }
  // The address is written with a delay; without waiting, it would navigate back to this page.
  const open = (key: string, href?: string) => {
    clearTimeout(resting.current)
    // The trajectory and its page are read at the same time.
    if (href === undefined) readAhead(key)
    void go(href ?? inspectorHref(key, list.listQuery), state.setRow(key))
  }
  const setOpen = (key: string, isOpen: boolean) => {
    const found = entries.find((one) => one.key === key)
    if (found?.kind !== 'group') return
    const { id } = found.group
    void state.setOpen(isOpen ? [...state.open, id] : state.open.filter((other) => other !== id))
  }
  const removeRow = (key: string) => {
    const found = entries.find((one) => one.key === key)
    const keys = found ? keysOf(found) : [key]
    // Deleting a selected row deletes the whole selection.
    void remove(keys.every((one) => chosen.has(one)) ? [...chosen] : keys)
  }
  const act = ({ kind, key, href }: RowAction) => {
    switch (kind) {
      case 'fold':
      case 'unfold':
        return setOpen(key, kind === 'unfold')
      case 'delete':
        return removeRow(key)
      case 'open':
        return open(key, href)
      case 'edit':
        void state.setRow(key)
        return focus.editInPanel()
      case 'show':
        return void state.setRow(key)
    }
  }
  return (
    <Shell title="Library" trajectory={undefined}>
      <main
        className="grid min-h-0 grid-rows-[minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_300px] 2xl:grid-cols-[minmax(0,1fr)_340px]"
        data-library={list.isFetching ? 'loading' : 'idle'}
      >
        <section
          aria-label="Trajectories"
          className={`grid min-h-0 min-w-0 grid-rows-[auto_auto_minmax(0,1fr)_auto] lg:grid ${focus.isPanelShown ? 'max-lg:hidden' : ''}`}
        >
          <ListToolbar state={state} list={list} searchRef={focus.search} />
          <div>
            {actionError ? (
              <Banner tone="bad" title={actionError.title} hint={actionError.hint}>
                <Button onClick={() => setActionError(undefined)}>Dismiss</Button>
              </Banner>
            ) : (
              failure && (
                <Banner tone="bad" title={failure.message} hint={hintOf(failure)}>
                  <Button onClick={() => (state.cursor === undefined ? list.refetch() : state.setCursor(undefined))}>
                    {state.cursor === undefined ? 'Try again' : 'Show the first page'}
                  </Button>
                </Banner>
              )
            )}
          </div>
          <section ref={focus.list} aria-label="List" className="relative min-h-0 overflow-y-auto">
            {entries.length > 0 ? (
              <TrajectoryTable
                entries={entries}
                sort={state.sort}
                onSort={state.setSort}
                selected={chosen}
                onSelect={choose}
                shown={state.row}
                onAction={act}
                onApproach={approach}
              />
            ) : (
              page && (
                <EmptyList
                  isFiltered={Object.keys(list.given).length > 0}
                  onClear={() => state.setFilter({ q: '', outcome: '', tag: '', source: '', health: '', group: '' })}
                />
              )
            )}
            {!page && !failure && (
              <p className="p-4 text-faint" role="status">
                Loading…
              </p>
            )}
          </section>
          <div>
            {(chosen.size > 0 || undoable) && (
              <SelectionBar
                {...{ chosen, undoable }}
                onExport={setExported}
                onRemove={remove}
                onClear={() => {
                  clearChosen()
                  focus.focusTitle(state.row)
                }}
                onUndo={undo}
                onDismiss={dismiss}
              />
            )}
          </div>
        </section>
        <DetailsPanel
          list={list}
          focus={focus}
          onOpen={open}
          onRemove={remove}
          onExport={setExported}
          onGroup={(group) => state.setFilter({ group })}
        />
      </main>
      {exported && (
        <SeveralExport
          keys={exported}
          onClose={() => setExported(undefined)}
          onSaveError={(reason) => setActionError(actionErrorOf(reason))}
        />
      )}
    </Shell>
  )
}

/** Returns the keys of the selected trajectories, and the actions that change them. */
function useChosenRows() {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const choose = (keys: readonly string[], isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, ...keys] : [...before].filter((key) => !keys.includes(key))))
  return {
    chosen,
    choose,
    clearChosen: () => setChosen(new Set()),
  }
}

/** Calls actions on single keys, outside fields and dialogs. */
function useKeys(actions: Readonly<Record<string, () => unknown>>): void {
  usePageKeys((event) => {
    const action = actions[event.key]
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  })
}
