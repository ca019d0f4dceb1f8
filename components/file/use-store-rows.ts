'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ImportResult } from '#lib/api/imported.ts'
import { indexedFile } from '#lib/browser/file-index/indexed-file.ts'
import type { FileSampleRow } from '#lib/browser/file-index/sample-row.ts'
import { TRAJECTORIES } from '#lib/browser/queries.ts'

/** State of storing trajectories of the listed file. */
export type RowStoring =
  | { readonly kind: 'none' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'stored'; readonly imported: ImportResult }
  | { readonly kind: 'failed'; readonly error: Error }

/** Returns a function that stores rows of the listed file, and its state. The function returns undefined if storing failed. */
export function useStoreRows() {
  const [storing, setStoring] = useState<RowStoring>({ kind: 'none' })
  const cache = useQueryClient()
  return {
    storing,
    forget: () => setStoring({ kind: 'none' }),
    async store(rows: readonly FileSampleRow[] | 'all'): Promise<ImportResult | undefined> {
      setStoring({ kind: 'pending' })
      try {
        const imported = await indexedFile.store(rows)
        setStoring({ kind: 'stored', imported })
        void cache.invalidateQueries({ queryKey: TRAJECTORIES })
        return imported
      } catch (error) {
        if (!(error instanceof Error)) throw error
        setStoring({ kind: 'failed', error })
        return undefined
      }
    },
  }
}
