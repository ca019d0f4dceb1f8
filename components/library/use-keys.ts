'use client'
import { useEffect, useEffectEvent } from 'react'

/** Calls actions on single keys, outside fields and dialogs. */
export function useKeys(actions: Readonly<Record<string, () => unknown>>): void {
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
