import { useEffectEvent, useLayoutEffect } from 'react'

/** Handles the page's keys wherever the focus is, except for keys typed into fields, and keys while a dialog is open. */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isTyping =
      event.target instanceof Element &&
      event.target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null
    if (!isTyping && !document.querySelector('dialog[open]')) onKey(event)
  })
  // Keys act from the moment in which the page shows what they do. An effect after the paint would miss the first ones.
  useLayoutEffect(() => {
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
