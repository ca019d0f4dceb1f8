'use client'
/** The one `Inspection` of an offline page: as it was looked at when it was saved, and then as its reader changes it. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { OfflineView } from '#lib/offline/document.ts'
import type { Inspection, InspectorView } from '../inspector/inspection.ts'
import type { OfferName, Offers } from '../inspector/offers.ts'
import { colouringOf } from '../trajectory/colour/colouring.ts'
import { unfoldedAt } from '../trajectory/folding.ts'
import type { GridControl } from '../trajectory/grid-control.ts'
import type { Folds } from '../trajectory/grid-options.ts'
import type { MarkKind, TokenMarks } from '../trajectory/token-marks.ts'
import { trajectoryReading } from '../trajectory/token-reading.ts'
import { runHere } from './run-here.ts'

export function useOfflineInspection(
  trajectory: TrajectoryView,
  saved: OfflineView,
  /** Shows the token view in a window that has no room for all. */
  onShowTokens: () => void,
) {
  const [view, setView] = useState<InspectorView>({
    tab: 'tokens',
    colour: saved.colour,
    limit: saved.limit,
    selection: saved.selection,
    find: saved.find,
    scatter: undefined,
    format: undefined,
  })
  const [pointed, setPointed] = useState<number>()
  const [marks, setMarks] = useState<readonly TokenMarks[]>(() =>
    saved.marks.map(({ kind, ranges }) => ({ kind, ranges: Int32Array.from(ranges) })),
  )
  const [folds, setFolds] = useState<Folds>({
    segments: new Set(saved.folds.segments),
    thinks: new Set(saved.folds.thinks),
  })
  const [inSight, setInSight] = useState<Span>()
  const [offers, setOffers] = useState<Offers>({})
  const [said, setSaid] = useState('')
  const grid = useRef<GridControl>(null)
  const run = useMemo(() => runHere(trajectory), [trajectory])
  const offer = useCallback((name: OfferName, run: () => void) => {
    setOffers((known) => ({ ...known, [name]: run }))
    return () => setOffers(({ [name]: _, ...others }) => others)
  }, [])
  const colouring = colouringOf(trajectory, view.colour, view.limit)
  const replaceMarks = (kind: MarkKind, ranges: Int32Array) =>
    setMarks((known) => [...known.filter((mark) => mark.kind !== kind), { kind, ranges }])
  const inspection: Inspection = {
    trajectory,
    storedKey: undefined,
    view,
    onView: (change) => setView((known) => ({ ...known, ...change })),
    onSelect: (selection, tab) => {
      setView((known) => ({ ...known, selection }))
      if (selection) setFolds((known) => unfoldedAt(known, trajectory, selection.focus))
      if (!selection || !tab) return
      onShowTokens()
      // Once it is drawn.
      requestAnimationFrame(() => {
        grid.current?.reveal(selection.focus)
        if (!document.activeElement?.matches('input, textarea, select')) grid.current?.focus()
      })
    },
    pointed,
    onPointAt: (tokens) => replaceMarks('linked', Int32Array.from(tokens ? [tokens.start, tokens.end] : [])),
    run,
    colouring,
    reading: trajectoryReading(colouring),
    marks,
    onMarks: replaceMarks,
    folds,
    onFolds: setFolds,
    inSight,
    grid,
    offer,
    say: setSaid,
    onSave: () => {},
  }
  useSpokenOnce(said, () => setSaid(''))
  return { inspection, offers, said, onPoint: setPointed, onSight: setInSight }
}

/** What was said stands for a moment. */
function useSpokenOnce(said: string, forget: () => void): void {
  const latest = useRef(forget)
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => latest.current(), 4_000)
    return () => clearTimeout(timer)
  }, [said])
}
