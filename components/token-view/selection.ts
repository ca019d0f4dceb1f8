/** The tokens that are chosen: one, or all from where the choice began to where it stands. Indices of the trajectory. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

export interface Selection {
  /** Where it began. */
  readonly anchor: number
  /** Where it stands: the token that keys move from. */
  readonly focus: number
}

export const single = (index: number): Selection => ({ anchor: index, focus: index })

/** Half-open. */
export const rangeOf = ({ anchor, focus }: Selection): Span => ({
  start: Math.min(anchor, focus),
  end: Math.max(anchor, focus) + 1,
})

export const isSingle = ({ anchor, focus }: Selection): boolean => anchor === focus

/** As addresses have it: `12`, or `12-40` from anchor to focus. */
export const selectionText = ({ anchor, focus }: Selection): string =>
  anchor === focus ? String(focus) : `${anchor}-${focus}`

/** Undefined for what is no selection. */
export function readSelection(text: string): Selection | undefined {
  const [, anchor, focus = anchor] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? []
  return anchor === undefined ? undefined : { anchor: Number(anchor), focus: Number(focus) }
}
