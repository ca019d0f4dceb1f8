'use client'
/** The one `Inspection` of an offline page: as it was looked at when it was saved, and then as its reader changes it. */
import { useMemo, useRef, useState } from 'react'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { OfflineView } from '#lib/offline/document.ts'
import type { Inspection, InspectorView } from '../inspector/inspection.ts'
import { useOffers } from '../inspector/use-offers.ts'
import { useSaid } from '../inspector/use-said.ts'
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
  const { offers, offer } = useOffers()
  const { said, say } = useSaid()
  const grid = useRef<GridControl>(null)
  const run = useMemo(() => runHere(trajectory), [trajectory])
  // The compiler that keeps such values in the application does not run over this page.
  const colouring = useMemo(
    () => colouringOf(trajectory, view.colour, view.limit),
    [trajectory, view.colour, view.limit],
  )
  const reading = useMemo(() => trajectoryReading(colouring), [colouring])
  const replaceMarks = (kind: MarkKind, ranges: Int32Array | undefined) =>
    setMarks((known) => [...known.filter((mark) => mark.kind !== kind), ...(ranges ? [{ kind, ranges }] : [])])
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
    reading,
    marks,
    onMarks: replaceMarks,
    folds,
    onFolds: setFolds,
    inSight,
    grid,
    offer,
    say,
    onSave: () => {},
  }
  return { inspection, offers, said, onPoint: setPointed, onSight: setInSight }
}
