/** The selected tokens: one token, or a range from its anchor to its focus, as indices in the trajectory. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

/** A selection of at least one token; the focus may be before the anchor. */
export interface Selection {
  /** Index of the token at which the selection began. */
  readonly anchor: number
  /** Index of the token at which it ends, from which keys move. */
  readonly focus: number
}

/** Returns the selection of one token. */
export const single = (index: number): Selection => ({ anchor: index, focus: index })

/** Returns the selected tokens, half-open. */
export const selectedRange = ({ anchor, focus }: Selection): Span => ({
  start: Math.min(anchor, focus),
  end: Math.max(anchor, focus) + 1,
})

/** Returns whether only one token is selected. */
export const isSingle = ({ anchor, focus }: Selection): boolean => anchor === focus

/** Returns the index of the selected token; undefined if none or several are selected. */
export const selectedToken = (selection: Selection | undefined): number | undefined =>
  selection && isSingle(selection) ? selection.focus : undefined

/** Returns the selection as in addresses: `12`, or `12-40` from anchor to focus. */
export const selectionText = ({ anchor, focus }: Selection): string =>
  anchor === focus ? String(focus) : `${anchor}-${focus}`

/** Reads a selection from an address; returns undefined if the text is not one. */
export function readSelection(text: string): Selection | undefined {
  const [, anchor, focus = anchor] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? []
  return anchor === undefined ? undefined : { anchor: Number(anchor), focus: Number(focus) }
}
