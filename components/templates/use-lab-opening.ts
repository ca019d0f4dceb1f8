'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { ApiError } from '#lib/browser/api.ts'
import { serverStatusOptions, trajectoryOptions } from '#lib/browser/queries.ts'
import type { LabState, LabStore } from '#lib/browser/templates/lab-document.ts'
import { firstInput, loadSource } from '#lib/browser/templates/template-sources.ts'
import type { LabDocument, SourceContents } from '#lib/templates/document/document.ts'
import { type LabSource, linkedSource, sourceLink } from '#lib/templates/document/source.ts'
import type { LabLink } from './address.ts'

/** State of opening the document. */
export type LabOpening =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  /** The link's source cannot be loaded; the existing document is shown. */
  | { readonly kind: 'refused'; readonly error: ApiError }

/** Returns a function that loads a source, from caches if possible. It throws ApiError, or the signal's reason. */
export function useSources(): (source: LabSource, hasTools: boolean, signal: AbortSignal) => Promise<SourceContents> {
  const cache = useQueryClient()
  return (source, hasTools, signal) =>
    loadSource(source, {
      signal,
      hasTools,
      trajectory: (key) => cache.fetchQuery(trajectoryOptions(key)),
      status: (name) => cache.fetchQuery(serverStatusOptions(name)),
    })
}

/** Opens this browser's document, and loads what the address names and the document lacks. */
export function useLabOpening(lab: LabStore | undefined, kind: LabState['kind'], linked: LabLink) {
  const isReading = kind === 'reading'
  const [opening, setOpening] = useState<LabOpening>({ kind: 'opening' })
  const load = useSources()
  const open = useEffectEvent(async (signal: AbortSignal) => {
    if (!lab) return
    try {
      const state = lab.state()
      if (state.kind === 'first') lab.begin(documentOf(await firstInput(signal)))
      const now = lab.state()
      if (now.kind !== 'open') return
      const sources = newSources(linked, now.history.now, state.kind === 'first')
      for (const source of sources)
        lab.apply({ type: 'loaded', loaded: await load(source, now.history.now.tools.trim() !== '', signal) })
      if (linked.tokenizer !== undefined) lab.apply({ type: 'tokenizer', name: linked.tokenizer })
      // After a load, the number belongs to a revision of another browser.
      if (linked.revision !== undefined && sources.length === 0) lab.apply({ type: 'shown', number: linked.revision })
      setOpening({ kind: 'open' })
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ApiError)) throw error
      setOpening({ kind: 'refused', error })
    }
  })
  useEffect(() => {
    if (isReading) return
    const controller = new AbortController()
    void open(controller.signal)
    return () => controller.abort()
    // Runs once: later changes are the user's, and the address follows them.
  }, [isReading])
  return { opening, dismiss: () => setOpening({ kind: 'open' }) }
}

const documentOf = ({
  template,
  name,
  messages,
  tools,
  options,
  source,
}: Awaited<ReturnType<typeof firstInput>>): LabDocument => ({
  revisions: [{ number: 1, name, kind: 'kept', parent: undefined, template }],
  shown: 1,
  messages,
  tools,
  options,
  tokenizer: BUILT_IN,
  source,
  trajectory: undefined,
})

/** Returns the sources that the address names and the document does not have. */
function newSources({ from, trajectory }: LabLink, document: LabDocument, isFirst: boolean): readonly LabSource[] {
  const source = from === undefined ? undefined : linkedSource(from)
  return [
    ...(trajectory !== undefined && trajectory !== document.trajectory
      ? [{ kind: 'trajectory' as const, key: trajectory }]
      : []),
    ...(source && (isFirst || sourceLink(source) !== sourceLink(document.source)) ? [source] : []),
  ]
}
