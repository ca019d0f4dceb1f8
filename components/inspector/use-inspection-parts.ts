'use client'
/** The parts of an `Inspection` besides the view and the worker: marks, folds, registered actions, and the token view. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { useStatusMessage } from '#components/commands/use-status-message.ts'
import type { GridControl } from '#components/token-view/grid/grid-control.ts'
import { type Folds, NO_FOLDS } from '#components/token-view/grid-options.ts'
import { unfoldedAt } from '#components/token-view/pieces/folding.ts'
import type { Selection } from '#components/token-view/selection.ts'
import type { MarkKind, TokenMarks } from '#components/token-view/token-marks.ts'
import { rangesWithNotes } from '#lib/trajectory/format/token-notes.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { currentHit, withCurrentHit } from './find/hit-steps.ts'
import type { Inspection } from './inspection.ts'
import type { PanelCommands, RegisterPanelCommand } from './selection/panel-commands.ts'

type ParentInspection = Pick<
  Inspection,
  | 'trajectory'
  | 'storedKey'
  | 'view'
  | 'onView'
  | 'run'
  | 'colouring'
  | 'reading'
  | 'onCompare'
  | 'trainerCut'
  | 'onTrainerCut'
  | 'onSave'
>

interface PartsOptions {
  /** Shows the token view in a window that is too narrow for all panes. */
  readonly onShowTokens: () => void
  /** Initial marks and folds. If omitted, there are none. */
  readonly first?: () => { readonly marks: readonly TokenMarks[]; readonly folds: Folds }
}

/** Marks with the trajectory for which they were found. */
interface OwnMarks extends TokenMarks {
  readonly of: TrajectoryView
}

/** Returns an `Inspection` with its own state, and the handlers that the token view needs. */
export function useInspectionParts(parent: ParentInspection, { onShowTokens, first }: PartsOptions) {
  const { trajectory, view, onView } = parent
  const [pointed, setPointed] = useState<number>()
  const [ownMarks, setMarks] = useState<readonly OwnMarks[]>(
    () => first?.().marks.map((marks) => ({ ...marks, of: trajectory })) ?? [],
  )
  const [folds, setFolds] = useState<Folds>(() => first?.().folds ?? NO_FOLDS)
  const [inSight, setInSight] = useState<Span>()
  const { offers, offer } = usePanelCommands()
  const { message, say } = useStatusMessage()
  const grid = useRef<GridControl>(null)
  const hit = currentHit(ownMarks, view.selection)
  // Drift of other tokens, or of another tokenizer, is unknown and not shown.
  const isDriftOld = ownMarks.some(({ kind, of }) => kind === 'drift' && of !== trajectory)
  const { notes } = trajectory
  const marks = useMemo(
    () => [
      ...withCurrentHit(isDriftOld ? ownMarks.filter(({ kind }) => kind !== 'drift') : ownMarks, hit),
      ...(notes ? [{ kind: 'note' as const, ranges: Int32Array.from(rangesWithNotes(notes)) }] : []),
    ],
    [ownMarks, hit, isDriftOld, notes],
  )
  const replaceMarks = (kind: MarkKind, ranges: Int32Array | undefined) =>
    setMarks((known) => [
      ...known.filter((mark) => mark.kind !== kind),
      ...(ranges ? [{ kind, ranges, of: trajectory }] : []),
    ])
  const select = (chosen: Selection | undefined, tab?: 'tokens') => {
    onView({ selection: chosen, ...(tab && { tab }) })
    if (chosen) setFolds((known) => unfoldedAt(known, trajectory, chosen.focus))
    if (!chosen || !tab) return
    onShowTokens()
    // The token is revealed in the next frame, when it is drawn, and even if the selection has not changed: the user may
    // have scrolled away from it.
    requestAnimationFrame(() => {
      grid.current?.reveal(chosen.focus)
      if (!isInField()) grid.current?.focus()
    })
  }
  const inspection: Inspection = {
    ...parent,
    onSelect: select,
    pointed,
    onPointAt: (tokens) => replaceMarks('linked', Int32Array.from(tokens ? [tokens.start, tokens.end] : [])),
    marks,
    onMarks: replaceMarks,
    folds,
    onFolds: setFolds,
    inSight,
    grid,
    offer,
    say,
  }
  return { inspection, offers, said: message, onPoint: setPointed, onVisible: setInSight }
}

/** Returns whether the focus is in a field; it then stays there, so that the user can continue typing. */
const isInField = (): boolean => document.activeElement?.matches('input, textarea, select') ?? false

/** Collects the registered actions; of several with one name, the last is used. */
function usePanelCommands() {
  const [offers, setOffers] = useState<PanelCommands>({})
  const offer = useCallback<RegisterPanelCommand>((name, run) => {
    setOffers((known) => ({ ...known, [name]: run }))
    return () =>
      setOffers(({ [name]: offered, ...others }) => (offered === run ? others : { ...others, [name]: offered }))
  }, [])
  return { offers, offer }
}
