/** The one `Inspection` of a screen: the address, what parts have marked, folded and offered, and the token view itself. */
import { useRef, useState } from 'react'
import type { Inspection } from '#components/inspector/inspection.ts'
import { useOffers } from '#components/inspector/use-offers.ts'
import { useSaid } from '#components/inspector/use-said.ts'
import { colouringOf } from '#components/trajectory/colour/colouring.ts'
import { unfoldedAt } from '#components/trajectory/folding.ts'
import type { GridControl } from '#components/trajectory/grid-control.ts'
import { type Folds, NO_FOLDS } from '#components/trajectory/grid-options.ts'
import type { Selection } from '#components/trajectory/selection.ts'
import type { MarkKind, TokenMarks } from '#components/trajectory/token-marks.ts'
import { trajectoryReading } from '#components/trajectory/token-reading.ts'
import { saveText } from '#lib/client/files.ts'
import { useInspection } from '#lib/client/use-inspection.ts'
import { tokenCount } from '#lib/core/tokens.ts'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { useViewState } from './view-state.ts'

export function useInspectionState(
  trajectory: TrajectoryView,
  storedKey: string | undefined,
  /** Shows the token view in a window that has no room for all. */
  onShowTokens: () => void,
) {
  const { view: asked, link, setView } = useViewState()
  const [pointed, setPointed] = useState<number>()
  const [marks, setMarks] = useState<readonly TokenMarks[]>([])
  const [folds, setFolds] = useState<Folds>(NO_FOLDS)
  const [inSight, setInSight] = useState<Span>()
  const { offers, offer } = useOffers()
  const { said, say } = useSaid()
  const run = useInspection(trajectory)
  const grid = useRef<GridControl>(null)
  const colouring = colouringOf(trajectory, asked.colour, asked.limit)
  const replaceMarks = (kind: MarkKind, ranges: Int32Array | undefined) =>
    setMarks((known) => [...known.filter((mark) => mark.kind !== kind), ...(ranges ? [{ kind, ranges }] : [])])
  const select = (selection: Selection | undefined, tab?: 'tokens') => {
    setView({ selection, ...(tab && { tab }) })
    if (selection) setFolds((known) => unfoldedAt(known, trajectory, selection.focus))
    if (!selection || !tab) return
    onShowTokens()
    // Once it is drawn. What is chosen again does not change, but may have been scrolled away from.
    requestAnimationFrame(() => {
      grid.current?.reveal(selection.focus)
      if (!isInField()) grid.current?.focus()
    })
  }
  const inspection: Inspection = {
    trajectory,
    storedKey,
    view: { ...asked, selection: within(asked.selection, tokenCount(trajectory)) },
    onView: setView,
    onSelect: select,
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
    say,
    onSave: saveText,
  }
  return { inspection, link, offers, said, onPoint: setPointed, onSight: setInSight }
}

/** An address may name tokens that this trajectory does not have. */
const within = (selection: Selection | undefined, count: number): Selection | undefined =>
  selection && selection.anchor < count && selection.focus < count ? selection : undefined

/** Who types goes on typing: the next hit is looked at from the field. */
const isInField = (): boolean => document.activeElement?.matches('input, textarea, select') ?? false
