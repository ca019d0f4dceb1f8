'use client'
import type { QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { reader } from '../workers/reader.ts'
import { createOpenedFile, importFile, type OpenedFile, type OpenedFileStore } from './opened-file.ts'

/** For all pages: a file is opened on one and shown on another. */
export const OpenedFileContext = createContext<OpenedFileStore | undefined>(undefined)

/** What is stored is known under its key, and is read no second time. */
export const openedFileOn = (cache: QueryClient): OpenedFileStore =>
  createOpenedFile({
    reader,
    importFile,
    onStored(key, trajectory) {
      cache.setQueryData(trajectoryOptions(key).queryKey, trajectory)
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
    },
    now: () => new Date(),
  })

export function useOpenedFile(): OpenedFileStore & { readonly opened: OpenedFile } {
  const store = useContext(OpenedFileContext)
  if (!store) throw new Error('no page stands outside of OpenedFileContext')
  return { ...store, opened: useSyncExternalStore(store.subscribe, store.state, store.state) }
}
