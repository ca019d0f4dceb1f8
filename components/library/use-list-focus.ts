'use client'
import { useLayoutEffect, useRef, useState } from 'react'
import { UNMOVED_FOCUS } from '#components/shell/pages.ts'

/**
 * Returns the parts of the page that receive the focus, and whether the panel replaces the list in a narrow window. If the page
 * begins with a row, as after Back, it is scrolled into view and receives the focus.
 */
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
  const titleToReturnTo = useRef(row)
  // The list may be loaded after the page, and the samples of a group after the list.
  useLayoutEffect(() => {
    if (titleToReturnTo.current !== row) titleToReturnTo.current = undefined
    const title = titleOf(titleToReturnTo.current)
    if (!title) return
    titleToReturnTo.current = undefined
    if (list.current && !isVisible(title, list.current)) title.scrollIntoView({ block: 'center' })
    if (document.activeElement?.matches(UNMOVED_FOCUS)) title.focus({ preventScroll: true })
  })
  // A field would open the keyboard of a phone, so it is the last choice.
  const focusTitle = (key: string | undefined) =>
    (titleOf(key) ?? list.current?.querySelector<HTMLElement>('[data-title]') ?? search.current)?.focus()
  return {
    search,
    list,
    panel,
    isPanelShown,
    hasTitle: (key: string) => titleOf(key) instanceof HTMLElement,
    /** Moves the focus to the title of a row, or else to that of the first one, or without rows to the search field. */
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

/** Returns whether a title is visible in its list, below the headings that cover the first rows. */
function isVisible(title: Element, list: Element): boolean {
  const { top, bottom } = title.getBoundingClientRect()
  const headings = list.querySelector('thead')?.getBoundingClientRect() ?? list.getBoundingClientRect()
  return top >= headings.bottom && bottom <= list.getBoundingClientRect().bottom
}

/** The parts of the page that receive the focus. */
export type ListFocus = ReturnType<typeof useListFocus>
