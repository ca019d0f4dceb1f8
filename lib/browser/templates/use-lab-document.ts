'use client'
import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import {
  createLabStore,
  type EarlierDocument,
  earlierDocuments,
  type LabState,
  type LabStore,
  openDocumentStorage,
} from './lab-document.ts'

/** Returns a name that begins with the time, so that keys have the order of the windows. */
const newWindowName = (): string => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`

const READING: LabState = { kind: 'reading' }

/** Returns the lab's document in this browser. On the server, it has the state of a browser that is still reading. */
export function useLabDocument(): { readonly state: LabState; readonly lab: LabStore | undefined } {
  const [lab] = useState(() =>
    typeof window === 'undefined'
      ? undefined
      : createLabStore(openDocumentStorage(), { now: () => new Date(), windowName: newWindowName() }),
  )
  const state = useSyncExternalStore(
    lab?.subscribe ?? never,
    () => lab?.state() ?? READING,
    () => READING,
  )
  return { state, lab }
}

const never = () => () => {}

/** Returns the documents of this browser that something replaced, newest first; undefined while they are read. */
export function useEarlierDocuments(): readonly EarlierDocument[] | undefined {
  const { data } = useQuery({
    queryKey: ['earlier lab documents'],
    queryFn: () => earlierDocuments(openDocumentStorage()),
    networkMode: 'always',
    gcTime: 0,
    staleTime: 0,
  })
  return data
}
