/** Building blocks of commands: steps over the tokens, and copies of the selection. */

import { type GridMove, type GridPlace, moveSelection } from '#components/token-view/grid/grid-keys.ts'
import type { Selection } from '#components/token-view/selection.ts'
import { copyText } from '#components/ui/copy-text.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { Inspection } from '../inspection.ts'
import { markAfter } from '../minimap/next-mark.ts'
import type { CommandScreen } from './command.ts'

/** Colours tokens by another mode, with its default limit. */
export const colour = ({ onView }: Inspection, name: string): void => onView({ colour: name, limit: undefined })

/** Returns the state that movement keys start from; undefined before the token view is measured. */
export function gridPlaceOf({ inspection: { grid, trajectory, view } }: CommandScreen): GridPlace | undefined {
  const layout = grid.current?.layout()
  const sight = grid.current?.sight()
  if (!layout || !sight) return undefined
  const pageLines = Math.max(1, Math.floor(((sight.end - sight.start) * layout.height) / layout.rowHeight) - 2)
  return { layout, count: tokenCount(trajectory), selection: view.selection, pageLines }
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
  if (text === undefined) return
  say((await copyText(text)) ? done : 'The browser refused to copy.')
}
