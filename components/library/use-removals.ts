'use client'
import { useRef } from 'react'
import { titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { ApiError } from '#lib/browser/api.ts'
import { forgetAllRemovals, removedKeys, useUndoableRemovals } from '#lib/browser/library/removals.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import type { LibraryState } from './address.ts'
import { keysOf, type TableEntry } from './rows/table-entries.ts'
import type { ListFocus } from './use-list-focus.ts'

/** Number of keys named in an error. */
const SHOWN = 5

/** A failure of an action, shown above the list. */
export interface ActionError {
  readonly title: string
  readonly hint: string | undefined
}

/** Returns an error of the server as a message; any other error is a bug and thrown again. */
export function actionErrorOf(reason: unknown): ActionError {
  if (!(reason instanceof ApiError)) throw reason
  return { title: reason.message, hint: reason.hint }
}

interface RemovalsOptions {
  readonly entries: readonly TableEntry[]
  readonly state: LibraryState
  readonly focus: ListFocus
  readonly onActionError: (actionError: ActionError | undefined) => void
  /** Called with the keys that the server deleted. */
  readonly onRemoved: (keys: readonly string[]) => void
}

/** Deletes trajectories, and restores those of the last deletion, which may be older than this page. */
export function useRemovals({ entries, state, focus, onActionError, onRemoved }: RemovalsOptions) {
  const library = useLibrary()
  const removals = useUndoableRemovals()
  /** The requests to delete that the server may not have answered yet. */
  const requests = useRef<Promise<unknown>>(Promise.resolve())
  const remove = async (keys: readonly string[]) => {
    onActionError(undefined)
    focus.closePanel()
    // The next row receives the focus while the deleted one is still mounted.
    const stays = (one: TableEntry) => keysOf(one).some((key) => !keys.includes(key))
    const last = entries.findLastIndex((one) => !stays(one))
    const next = entries.slice(last + 1).find(stays) ?? entries.slice(0, last + 1).findLast(stays)
    void state.setRow(next?.key)
    focus.focusTitle(next?.key)
    const request = library.remove(keys)
    requests.current = Promise.allSettled([requests.current, request])
    const { done: removed, refused } = await request
    onRemoved(removed)
    const [first] = refused
    if (!first) return
    if (refused.some(({ key }) => key === state.row)) {
      void state.setRow(state.row)
      focus.focusTitle(state.row)
    }
    const row = entries.find(({ key }) => key === first.key)?.row
    const what = refused.length > 1 ? `${refused.length} stay. The first` : `“${row ? titleText(row) : first.key}”`
    onActionError({ title: `${what}: ${first.error.message}`, hint: first.error.hint })
  }
  const undo = async () => {
    const removal = removals.at(-1)
    if (!removal) return
    onActionError(undefined)
    // A trajectory can be restored only after it was deleted, which the server may refuse.
    await requests.current
    const { done: restored, refused } = await library.restore(removedKeys(removal.keys))
    // Trajectories that are gone cannot be restored; the others can, when the server responds.
    const gone = refused.filter(({ error }) => error.status === 404).map(({ key }) => key)
    const left = refused.filter(({ error }) => error.status !== 404)
    // The undo button may be unmounted now, and the query updates the list in a timeout.
    if (left.length === 0) setTimeout(() => focus.focusTitle(restored.find(focus.hasTitle) ?? state.row))
    if (gone.length > 0)
      onActionError({
        title: `Deleted permanently: ${gone.slice(0, SHOWN).join(', ')}${gone.length > SHOWN ? ` and ${gone.length - SHOWN} more` : ''}`,
        hint: left[0]?.error.message ?? 'Deleted trajectories can be restored for at least a day.',
      })
    else if (left[0]) onActionError(actionErrorOf(left[0].error))
  }
  return {
    remove,
    undo,
    /** The deletion that the next undo restores; undefined if there is nothing to undo. */
    undoable: removals.at(-1),
    /** Hides the offer to undo. */
    dismiss: () => {
      forgetAllRemovals()
      focus.focusTitle(state.row)
    },
  }
}
