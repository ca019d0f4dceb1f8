'use client'
import { useRef, useState } from 'react'

/** Returns the parts of the page that receive the focus, and whether the panel replaces the list in a narrow window. */
export function useListFocus(
  /** Key of the row that the panel shows. */
  row: string | undefined,
) {
  const search = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLElement>(null)
  const panel = useRef<HTMLElement>(null)
  const [isPanelShown, setIsPanelShown] = useState(false)
  const titleOf = (key: string | undefined) =>
    key === undefined
      ? null
      : list.current?.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"] [data-title]`)
  const focusTitle = (key: string | undefined) => (titleOf(key) ?? search.current)?.focus()
  return {
    search,
    list,
    panel,
    isPanelShown,
    hasTitle: (key: string) => titleOf(key) instanceof HTMLElement,
    /** Moves the focus to the title of a row, or else to the search field. */
    focusTitle,
    editInPanel: () => {
      setIsPanelShown(true)
      // The panel shows the row only in the next frame.
      requestAnimationFrame(() => panel.current?.querySelector('input')?.focus())
    },
    closePanel: () => setIsPanelShown(false),
    leavePanel: () => {
      setIsPanelShown(false)
      requestAnimationFrame(() => focusTitle(row))
    },
  }
}

/** The parts of the page that receive the focus. */
export type ListFocus = ReturnType<typeof useListFocus>
