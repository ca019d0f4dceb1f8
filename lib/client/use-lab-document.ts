'use client'
import { useState, useSyncExternalStore } from 'react'
import { browserShelf, createLabStore, type LabState, type LabStore } from './lab-document.ts'

const READING: LabState = { kind: 'reading' }

/** The lab's document in this browser. The server has none: it shows what it shows while a browser reads its own. */
export function useLabDocument(): { readonly state: LabState; readonly lab: LabStore | undefined } {
  const [lab] = useState(() => (typeof window === 'undefined' ? undefined : createLabStore(browserShelf())))
  const state = useSyncExternalStore(
    lab?.subscribe ?? never,
    () => lab?.state() ?? READING,
    () => READING,
  )
  return { state, lab }
}

const never = () => () => {}
