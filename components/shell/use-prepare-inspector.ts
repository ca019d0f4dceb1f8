'use client'
// This module belongs to every page, so the loaders of the later parts are registered with the page. Of several loaders of one part, the
// first one stays, and that of a page that is still loading may run before the chunks that it relies on
// (https://github.com/vercel/next.js/issues/98099).
import { LaterParts } from '#components/inspector/warm-up/later-parts.tsx'
import { pageReader } from '#lib/browser/page-reader.ts'
import { usePrefetch } from './navigation.tsx'

/** Loads the code that reads and shows a trajectory, for a page that will probably be opened. A failed load is tried again when it is shown. */
function loadInspectorCode(): void {
  pageReader.load()
  import('#components/inspector/inspector.tsx').catch(() => {})
  for (const { preload } of Object.values(LaterParts)) preload()
  prepareTokenView()
}

/** Finds the fonts of the token view in idle times, for a page that will show tokens: a font that comes later lays all of them out again. */
export function prepareTokenView(): void {
  import('#components/inspector/warm-up/warm-up.ts').then(({ warmUpTokenView }) => warmUpTokenView()).catch(() => {})
}

/** Returns a function that loads the code of the inspector and one of its pages, so that opening this page does not wait for them. */
export function usePrepareInspector(): (href: string) => void {
  const prefetch = usePrefetch()
  return (href) => {
    prefetch(href)
    loadInspectorCode()
  }
}
