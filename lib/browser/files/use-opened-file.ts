'use client'
import type { QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { pageReader } from '../page-reader.ts'
import { TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { createOpenedFile, importFile, importUrl, type OpenedFile, type OpenedFileStore } from './opened-file.ts'

/** Shared by all pages: a file is opened on one page and shown on another. */
export const OpenedFileContext = createContext<OpenedFileStore | undefined>(undefined)

/** Returns a store that puts stored trajectories into the cache, so that they are not read again. */
export const openedFileOn = (cache: QueryClient): OpenedFileStore =>
  createOpenedFile({
    reader: pageReader,
    importFile,
    importUrl,
    onStored(key, trajectory) {
      if (trajectory) cache.setQueryData(trajectoryOptions(key).queryKey, trajectory)
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
    },
    now: () => new Date(),
  })

/** Returns the opened file and the functions to change it. Throws an Error outside of OpenedFileContext. */
export function useOpenedFile(): OpenedFileStore & { readonly opened: OpenedFile } {
  const store = useContext(OpenedFileContext)
  if (!store) throw new Error('useOpenedFile requires an OpenedFileContext')
  return { ...store, opened: useSyncExternalStore(store.subscribe, store.state, store.state) }
}
