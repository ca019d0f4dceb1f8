'use client'
/**
 * Both sides token by token, in lanes beside each other or in one column; equal runs are folded. lanes/use-lanes-drawing.ts
 * draws the rows, and lanes/lane-keys.ts handles the keys.
 */
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react'
import { selectedText } from '#components/token-view/card/selected-tokens.ts'
import { spansAround } from '#components/token-view/card/spans-around.ts'
import { useCopy } from '#components/token-view/card/use-copy.ts'
import { tokenName } from '#components/token-view/grid/token-box.ts'
import { useGridPointer } from '#components/token-view/grid/use-grid-pointer.ts'
import { DEFAULT_GRID_OPTIONS, type GridOptions } from '#components/token-view/grid-options.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { countText } from '#components/token-view/numbers.ts'
import type { Selection } from '#components/token-view/selection.ts'
import { tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { vocabularyOf } from '../drift/drift-words.ts'
import type { ComparePartProps } from '../view.ts'
import { DriftStrip, type DriftStripControl } from './drift-strip.tsx'
import { firstOfDrift, type LaneAction, laneKeyed, spotOf } from './lane-keys.ts'
import { chosenId } from './lane-painter.ts'
import { driftSentence } from './lane-words.ts'
import type { LaneChoice, LanesPicture } from './lanes-picture.ts'
import { driftNumbered, driftOfToken, type Pairing, pairingOf, type Spot } from './pairing.ts'
import { itemOfToken } from './rows.ts'
import { useLanesDrawing } from './use-lanes-drawing.ts'

interface LanesProps extends ComparePartProps {
  /** Omitted: the default options. */
  readonly options?: GridOptions
}

/** Shows the tokens of both sides with their drift. */
export function Lanes({ pair, view, onView, onPoint, say, options = DEFAULT_GRID_OPTIONS }: LanesProps) {
  const { compared } = pair
  const { stretches, report } = compared.comparison
  const vocabulary = vocabularyOf(pair)
  const [open, setOpen] = useState<ReadonlySet<number>>(NONE_OPEN)
  /** Tokens chosen here, and the drift span that was pinned at that time. A span that is pinned later replaces them. */
  const [choice, setChoice] = useState<{ readonly tokens: LaneChoice; readonly drift: number | undefined }>()
  const [pointed, setPointed] = useState<Spot>()
  const still = useRef<Spot>(undefined)
  const pairing = useMemo(() => pairingOf(stretches), [stretches])
  const chosen = chosenTokens(pairing, view.drift, choice)
  const strip = useRef<DriftStripControl>(null)
  const { viewport, canvas, lane, first, second, picture, spotUnder, scrollBy, scrollToFraction } = useLanesDrawing({
    compared,
    vocabulary,
    pairing,
    view,
    options,
    open,
    chosen,
    pointed,
    still,
    onSight: (sight) => strip.current?.place(sight),
  })

  const choose = (tokens: LaneChoice | undefined, drift = view.drift) => {
    setChoice(tokens && { tokens, drift })
    if (drift !== view.drift) onView({ drift })
  }
  const toggle = (stretch: number) =>
    setOpen((known) =>
      known.has(stretch) ? new Set([...known].filter((other) => other !== stretch)) : new Set([...known, stretch]),
    )
  const toggleAll = () =>
    setOpen((known) =>
      known.size > 0 ? NONE_OPEN : new Set(stretches.flatMap(({ kind }, number) => (kind === 'equal' ? [number] : []))),
    )

  // The pointer handling numbers the tokens of both sides in sequence: those of the right follow those of the left.
  const leftCount = tokenCount(compared.left.trajectory)
  const numberOf = ({ side, token }: Spot) => (side === 'left' ? token : leftCount + token)
  const spotNumbered = (number: number): Spot =>
    number < leftCount ? { side: 'left', token: number } : { side: 'right', token: number - leftCount }
  const chooseNumbers = (numbers: Selection | undefined) => {
    if (!numbers) {
      choose(undefined)
      return
    }
    const [anchor, focus] = [spotNumbered(numbers.anchor), spotNumbered(numbers.focus)]
    // A choice cannot extend to the other side.
    if (anchor.side !== focus.side) return
    still.current = focus
    const isOne = anchor.token === focus.token
    choose(
      { side: anchor.side, anchor: anchor.token, focus: focus.token },
      (isOne ? driftOfToken(pairing, focus) : undefined) ?? view.drift,
    )
  }
  const pointer = useGridPointer({
    viewport,
    scrollBy,
    tokenUnder: (place) => {
      const spot = spotUnder(place)
      return spot && numberOf(spot)
    },
    spansAround: (number) => {
      const spot = spotNumbered(number)
      const drift = driftOfToken(pairing, spot)
      const around = spansAround(compared[spot.side].trajectory, spot.token)
      const all = drift === undefined ? around : [driftNumbered(pairing, drift)?.[spot.side] ?? [], around].flat()
      const before = spot.side === 'left' ? 0 : leftCount
      return all.map(({ start, end }) => ({ start: start + before, end: end + before }))
    },
    selection: chosen && {
      anchor: numberOf({ side: chosen.side, token: chosen.anchor }),
      focus: numberOf(spotOf(chosen)),
    },
    onSelect: chooseNumbers,
    onMove: (number) => {
      const spot = number === undefined ? undefined : spotNumbered(number)
      setPointed((known) => (known?.side === spot?.side && known?.token === spot?.token ? known : spot))
    },
    onPoint: (number) => onPoint(number === undefined ? undefined : driftOfToken(pairing, spotNumbered(number))),
  })
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>(CONTROLS) : null
    const { stretch, drift } = target?.dataset ?? {}
    if (stretch && event.shiftKey) toggleAll()
    else if (stretch) toggle(Number(stretch))
    else if (drift) onView({ drift: Number(drift) })
    else pointer.onClick(event)
  }
  useCopy(
    viewport,
    () =>
      chosen
        ? selectedText(compared[chosen.side].trajectory, { anchor: chosen.anchor, focus: chosen.focus })
        : undefined,
    say,
  )
  const act = (action: LaneAction) => {
    switch (action.kind) {
      case 'choose':
        choose(action.chosen)
        break
      case 'pin':
        choose(chosen, action.drift)
        break
      case 'fold':
        toggle(action.stretch)
        break
      case 'fold-all':
        toggleAll()
        break
      case 'release':
        setChoice(undefined)
        if (view.drift !== undefined) onView({ drift: undefined })
    }
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!picture || event.target !== event.currentTarget) return
    const { rows } = picture
    const pageRows = Math.max(1, Math.floor(event.currentTarget.clientHeight / rows.rowHeight) - 2)
    const action = laneKeyed(keyName(event), { rows, pairing, chosen, pageRows })
    if (!action) return
    event.preventDefault()
    act(action)
  }

  const columns = view.isUnified ? (['both'] as const) : (['left', 'right'] as const)
  const chosenColumn = view.isUnified ? 'both' : (chosen?.side ?? 'left')
  return (
    <div className="flex h-full min-h-0 flex-col">
      {report.spans.length === 0 && (
        <p className="border-line border-b px-4 py-2 text-dim text-sm">{equalText(leftCount)}</p>
      )}
      <div className="flex min-h-0 flex-1">
        {/* biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount all of them */}
        <div
          ref={viewport}
          className="token-viewport min-w-0 flex-1"
          role="grid"
          tabIndex={0}
          aria-label="Tokens of both sides"
          aria-multiselectable
          aria-rowcount={picture?.rows.rowCount ?? 0}
          aria-activedescendant={chosen && chosenId(chosenColumn)}
          data-idle={picture !== undefined}
          data-arrangement={view.isUnified ? 'unified' : 'lanes'}
          onKeyDown={onKeyDown}
        >
          <div ref={canvas} className="lanes" {...{ ...pointer, onClick }}>
            {columns.map((column, index) => (
              // biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount all of them
              <div
                key={index === 0 ? 'first' : 'second'}
                ref={index === 0 ? lane : undefined}
                className="token-canvas"
                role="rowgroup"
                aria-label={COLUMN_NAMES[column]}
              >
                <div ref={index === 0 ? first : second} className="token-layer" />
              </div>
            ))}
          </div>
        </div>
        {picture && report.spans.length > 0 && <DriftStrip picture={picture} control={strip} onGo={scrollToFraction} />}
      </div>
      {/* The grid always points to this same element, because a screen reader speaks only a change of text. */}
      <p className="sr-only" aria-live="polite">
        {chosen && picture && spoken(chosen, picture)}
      </p>
    </div>
  )
}

const NONE_OPEN: ReadonlySet<number> = new Set()
/** Selector of clickable elements that are not tokens: folds, drift markers and gaps. */
const CONTROLS = '[data-stretch]:not([data-stretch=""]), .lane-note, .lane-hatch:not([data-drift=""])'
const COLUMN_NAMES = { left: 'Left', right: 'Right', both: 'Both sides' } as const

const equalText = (count: number): string =>
  count === 0
    ? 'There are no tokens on either side.'
    : `No drift: both sides are the same ${countText(count)} ${count === 1 ? 'token' : 'tokens'}.`

/** Returns the chosen tokens; if a drift span was pinned since they were chosen, its first token. */
function chosenTokens(
  pairing: Pairing,
  drift: number | undefined,
  choice: { readonly tokens: LaneChoice; readonly drift: number | undefined } | undefined,
): LaneChoice | undefined {
  if (drift === undefined || choice?.drift === drift) return choice?.tokens
  const spot = firstOfDrift(pairing, drift, choice?.tokens.side ?? 'left')
  return spot && { side: spot.side, anchor: spot.token, focus: spot.token }
}

/** Returns what a screen reader speaks for the chosen token, its drift span or its fold. */
function spoken({ side, anchor, focus }: LaneChoice, lanes: LanesPicture): string {
  const { rows, pairing, pictures } = lanes
  const item = itemOfToken(rows, side, focus)
  if (item && item.kind !== 'tokens')
    return `${countText(item.left.end - item.left.start)} identical tokens, folded. Enter unfolds them.`
  const picture = pictures[side]
  const token = tokenAt(picture.trajectory, focus)
  if (!token) return ''
  const count = Math.abs(focus - anchor) + 1
  const drift = driftOfToken(pairing, { side, token: focus })
  return [
    count > 1 && `${countText(count)} tokens selected, to`,
    `${side}:`,
    tokenName(token, picture),
    drift !== undefined && `; ${driftSentence(lanes, drift, side)}`,
  ]
    .filter(Boolean)
    .join(' ')
}
