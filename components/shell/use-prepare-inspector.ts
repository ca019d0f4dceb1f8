'use client'
import { pageReader } from '#lib/browser/page-reader.ts'
import { usePrefetch } from './navigation.tsx'

/** Loads the code that reads and shows a trajectory, for a page that will probably be opened. A failed load is tried again when it is shown. */
function loadInspectorCode(): void {
  pageReader.load()
  import('#components/inspector/inspector.tsx').catch(() => {})
  import('#components/inspector/warm-up/warm-up.ts').then(({ warmUpInspector }) => warmUpInspector()).catch(() => {})
}

/** Returns a function that loads the code of the inspector and one of its pages, so that opening this page does not wait for them. */
export function usePrepareInspector(): (href: string) => void {
  const prefetch = usePrefetch()
  return (href) => {
    prefetch(href)
    loadInspectorCode()
  }
}
