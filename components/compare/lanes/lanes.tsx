'use client'
/**
 * Both sides token by token, in lanes beside each other or in one column; equal runs are folded. use-lanes-drawing.ts
 * draws the rows, use-lane-pointer.ts and lane-keys.ts handle the pointer and the keys.
 */
import {
  type KeyboardEvent,
  type MouseEvent,
  type Ref,
  useEffectEvent,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { selectedText } from '#components/token-view/card/selected-tokens.ts'
import { useCopy } from '#components/token-view/card/use-copy.ts'
import { DEFAULT_GRID_OPTIONS, type GridOptions } from '#components/token-view/grid-options.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { sideText } from '#lib/analysis/compare/side.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { driftVocabularyOf } from '../drift/drift-words.ts'
import type { ComparePartProps } from '../view.ts'
import { DriftStrip, type DriftStripControl } from './drift-strip.tsx'
import { type LaneAction, laneActionOfKey, spotOf } from './lane-keys.ts'
import { equalSidesText, selectionSentence } from './lane-words.ts'
import { LanesGrid } from './lanes-grid.tsx'
import type { LaneSelection } from './lanes-picture.ts'
import { pairingOf, runNumberOf, type Spot } from './pairing.ts'
import { useLanePointer } from './use-lane-pointer.ts'
import { useLaneSelection } from './use-lane-selection.ts'
import { useLanesDrawing } from './use-lanes-drawing.ts'

/** Functions of the lanes that their parent calls. */
export interface LanesControl {
  /** Selects a token of a side, and scrolls to it. */
  readonly choose: (spot: Spot) => void
}

interface LanesProps extends ComparePartProps {
  readonly control?: Ref<LanesControl>
  /** Omitted: the default options. */
  readonly options?: GridOptions
}

/** Shows the tokens of both sides with their drift. */
export function Lanes({ pair, view, onView, onPoint, say, control, options = DEFAULT_GRID_OPTIONS }: LanesProps) {
  const { compared } = pair
  const { alignedRuns, report } = compared.comparison
  const vocabulary = driftVocabularyOf(pair)
  const [pointed, setPointed] = useState<Spot>()
  const still = useRef<Spot>(undefined)
  const strip = useRef<DriftStripControl>(null)
  const pairing = useMemo(() => pairingOf(alignedRuns), [alignedRuns])
  const { open, toggle, toggleAll, unfold } = useOpenRuns(alignedRuns, sideText(pair.left) === sideText(pair.right))
  const { chosen, choose, release } = useLaneSelection(pairing, view.drift, (drift) => onView({ drift }))
  const drawing = useLanesDrawing({
    compared,
    vocabulary,
    pairing,
    view,
    options,
    open,
    chosen,
    pointed,
    still,
    onVisible: (visible) => strip.current?.place(visible),
  })
  const { picture } = drawing
  const chooseSpot = useEffectEvent((spot: Spot) => {
    unfold(runNumberOf(pairing, spot))
    choose({ side: spot.side, anchor: spot.token, focus: spot.token })
  })
  useImperativeHandle(control, () => ({ choose: (spot) => chooseSpot(spot) }), [])
  const chooseByPointer = (tokens: LaneSelection | undefined, drift?: number) => {
    if (tokens) still.current = spotOf(tokens)
    choose(tokens, drift)
  }
  const pointer = useLanePointer({
    compared,
    pairing,
    viewport: drawing.viewport,
    spotUnder: drawing.spotUnder,
    scrollBy: drawing.scrollBy,
    chosen,
    onChoose: chooseByPointer,
    onMove: (spot) =>
      setPointed((known) => (known?.side === spot?.side && known?.token === spot?.token ? known : spot)),
    onPoint,
  })
  useCopy(
    drawing.viewport,
    () =>
      chosen
        ? selectedText(compared[chosen.side].trajectory, { anchor: chosen.anchor, focus: chosen.focus })
        : undefined,
    say,
  )

  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>(CONTROLS) : null
    const { run, drift } = target?.dataset ?? {}
    if (run && event.shiftKey) toggleAll()
    else if (run) toggle(Number(run))
    else if (drift) onView({ drift: Number(drift) })
    else pointer.onClick(event)
  }
  const act = (action: LaneAction) => {
    switch (action.kind) {
      case 'choose':
        return choose(action.chosen)
      case 'pin':
        return choose(chosen, action.drift)
      case 'fold':
        return toggle(action.run)
      case 'fold-all':
        return toggleAll()
      case 'release':
        return release()
    }
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!picture || event.target !== event.currentTarget) return
    const { rows } = picture
    const pageRows = Math.max(1, Math.floor(event.currentTarget.clientHeight / rows.rowHeight) - 2)
    const action = laneActionOfKey(keyName(event), { rows, pairing, chosen, pageRows })
    if (!action) return
    event.preventDefault()
    act(action)
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      {report.spans.length === 0 && (
        <p className="border-line border-b px-4 py-2 text-dim text-sm">
          {equalSidesText(tokenCount(compared.left.trajectory))}
        </p>
      )}
      <div className="flex min-h-0 flex-1">
        <LanesGrid isUnified={view.isUnified} {...{ drawing, chosen, pointer, onClick, onKeyDown }} />
        {report.spans.length > 0 && (
          <DriftStrip picture={picture} vocabulary={vocabulary} control={strip} onGo={drawing.scrollToFraction} />
        )}
      </div>
      {/* The grid always points to this same element, because a screen reader speaks only a change of text. */}
      <p className="sr-only" aria-live="polite">
        {chosen && picture && selectionSentence(chosen, picture)}
      </p>
    </div>
  )
}

/** Selector of clickable elements that are not tokens: folds, drift markers and gaps. */
const CONTROLS = '[data-run]:not([data-run=""]), .lane-note, .lane-gap:not([data-drift=""])'

const NONE_OPEN: ReadonlySet<number> = new Set()

const equalRunsOf = (runs: readonly AlignedRun[]): ReadonlySet<number> =>
  new Set(runs.flatMap(({ kind }, number) => (kind === 'equal' ? [number] : [])))

/** Returns the numbers of the unfolded runs of equal tokens, and the actions that fold and unfold. */
function useOpenRuns(runs: readonly AlignedRun[], isOneSide: boolean) {
  // Of one side twice, which two servers score, there is nothing else to see.
  const [open, setOpen] = useState(() => (isOneSide ? equalRunsOf(runs) : NONE_OPEN))
  return {
    open,
    toggle: (run: number) =>
      setOpen((known) =>
        known.has(run) ? new Set([...known].filter((other) => other !== run)) : new Set([...known, run]),
      ),
    /** Shows all tokens of a run, if its tokens are equal. */
    unfold: (run: number) =>
      setOpen((known) => (runs[run]?.kind !== 'equal' || known.has(run) ? known : new Set([...known, run]))),
    /** Folds all runs if one is unfolded, and unfolds all otherwise. */
    toggleAll: () => setOpen((known) => (known.size > 0 ? NONE_OPEN : equalRunsOf(runs))),
  }
}
