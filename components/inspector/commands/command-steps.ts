/** Building blocks of commands: steps over the tokens, and copies of the selection. */

import { flushSync } from 'react-dom'
import { distance } from '#components/token-view/colour/scale.ts'
import { type GridMove, type GridPlace, moveSelection } from '#components/token-view/grid/grid-keys.ts'
import { type Selection, selectedToken, single } from '#components/token-view/selection.ts'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { float64At } from '#lib/util/element-at.ts'
import { quantityOf, seriesNamed } from '../charts/series.ts'
import type { Inspection, InspectorTab } from '../inspection.ts'
import { markAfter } from '../minimap/next-mark.ts'
import type { CommandScreen } from './command.ts'

/** Colours tokens by another mode, with its default limit. */
export const colour = ({ onView }: Inspection, name: string): void => onView({ colour: name, limit: undefined })

/** Returns the state that movement keys start from; undefined before the token view is measured. */
export function gridPlaceOf({ inspection: { grid, trajectory, view } }: CommandScreen): GridPlace | undefined {
  const layout = grid.current?.layout()
  const visible = grid.current?.visible()
  if (!layout || !visible) return undefined
  const pageLines = Math.max(1, Math.floor(((visible.end - visible.start) * layout.height) / layout.rowHeight) - 2)
  return { layout, count: tokenCount(trajectory), selection: view.selection, pageLines }
}

/** Shows a tab, and moves the focus to its tokens, or else to the tab: what had the focus may be hidden. */
export function showTab({ inspection: { onView, grid } }: CommandScreen, tab: InspectorTab): void {
  // A hidden part cannot take the focus.
  flushSync(() => onView({ tab }))
  if (tab === 'tokens') grid.current?.focus()
  else document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus()
}

/** Moves the selection, or extends it. */
export function step(screen: CommandScreen, move: GridMove, isExtending: boolean): void {
  const place = gridPlaceOf(screen)
  const chosen = place && moveSelection(move, place, isExtending)
  if (chosen) screen.inspection.onSelect(chosen.selection, 'tokens')
}

/** Selects the next or previous drift span, or says that there is none. */
export function toDrift({ inspection }: CommandScreen, direction: 1 | -1): void {
  const { marks, view, onSelect, say } = inspection
  const ranges = marks.find(({ kind }) => kind === 'drift')?.ranges
  if (!ranges || ranges.length === 0) {
    say('Drift is unknown here.')
    return
  }
  const range = markAfter(ranges, view.selection, direction)
  if (range) onSelect({ anchor: range.start, focus: range.end - 1 }, 'tokens')
  else say(direction === 1 ? 'No further drift.' : 'No drift before this.')
}

/** The token that the walk through the values of a colour reached last. */
const visited = new WeakMap<Inspection['trajectory'], { readonly mode: string; readonly token: number }>()

/** Selects the token with the largest value of the colour shown; again, that with the next largest, and after the smallest the largest. */
export const toNextLargest = (inspection: Inspection): void => walkLargest(inspection, 1)

/** Goes back in the walk of `toNextLargest`: selects the token with the next larger value. */
export const toPreviousLargest = (inspection: Inspection): void => walkLargest(inspection, -1)

function walkLargest({ trajectory, colouring, view, onSelect, say }: Inspection, direction: 1 | -1): void {
  const { mode, scale } = colouring
  if (mode.kind !== 'number' || scale.kind !== 'number') return
  const { tokens, values } = seriesNamed(trajectory, quantityOf(mode))
  // The series of logprobs is not negated, and the scale of the colours is.
  const isNegated = quantityOf(mode) === 'logprob'
  const far = (index: number) => {
    const value = float64At(values, index)
    return distance(scale.axis, isNegated ? -value : value)
  }
  const isBefore = (a: number, b: number) => far(a) > far(b) || (far(a) === far(b) && a < b)
  const last = visited.get(trajectory)
  const selected = selectedToken(view.selection)
  // Another token or colour begins with the largest value.
  const isWalk = last !== undefined && last.mode === mode.name && last.token === selected
  const chosen = isWalk ? tokens.indexOf(last.token) : -1
  const isBack = direction === -1 && chosen >= 0
  const isFurther = (index: number) => chosen < 0 || (isBack ? isBefore(index, chosen) : isBefore(chosen, index))
  let next = -1
  for (let index = 0; index < tokens.length; index++)
    if (isFurther(index) && (next < 0 || (isBack ? isBefore(next, index) : isBefore(index, next)))) next = index
  if (next < 0 && isBack) {
    say('This is the largest value.')
    return
  }
  if (next < 0 && chosen >= 0) {
    say('The largest value comes next again.')
    onSelect(undefined)
    return
  }
  if (next < 0) {
    say(`No trained token has a value to compare: ${mode.quantity}.`)
    return
  }
  const token = float64At(tokens, next)
  visited.set(trajectory, { mode: mode.name, token })
  onSelect(single(token), 'tokens')
  say(`${mode.quantity} ${mode.text(isNegated ? -float64At(values, next) : float64At(values, next))}`)
}

/** Returns the result of `of` for the selection; undefined if nothing is selected. */
export const withSelection = <T>(
  { inspection: { trajectory, view } }: CommandScreen,
  of: (trajectory: Inspection['trajectory'], selection: Selection) => T,
): T | undefined => view.selection && of(trajectory, view.selection)

/** Copies a text and says `done`, or that the browser refused; does nothing if the text is undefined. */
export async function copy(
  { inspection: { say } }: CommandScreen,
  text: string | undefined,
  done: string,
): Promise<void> {
  if (text !== undefined) say(await copyAndDescribe(text, done))
}
