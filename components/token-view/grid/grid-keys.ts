/** The keys of the token view: one table for the view, the command palette and the list of keys. */

import { isSingle, type Selection, selectedRange, single } from '../selection.ts'
import { columnOfToken, type Layout, type Line, lineNumbered, lineOfToken, tokenAtColumn } from './layout.ts'

/** The state of the token view that a key starts from. */
export interface GridPlace {
  readonly layout: Layout
  /** Number of tokens of the trajectory. */
  readonly count: number
  readonly selection: Selection | undefined
  /** Number of lines on a page. */
  readonly pageLines: number
}

/** A movement in the token view, with its keys. */
export interface GridMove {
  readonly name: string
  readonly title: string
  readonly keys: readonly string[]
  /** Returns the index of the token to go to; undefined if there is none. */
  readonly target: (place: GridPlace) => number | undefined
}

/** Key that selects the segment, and at the second press all tokens. */
export const SELECT_ALL = 'Mod+a'

/** Movements of the token view. With Shift, keys that type no letter extend the selection. */
export const GRID_MOVES: readonly GridMove[] = [
  {
    name: 'next-token',
    title: 'Next token',
    keys: ['j', 'ArrowRight'],
    target: ({ selection, count }) => clamp(selection === undefined ? 0 : selection.focus + 1, count),
  },
  {
    name: 'previous-token',
    title: 'Previous token',
    keys: ['k', 'ArrowLeft'],
    target: ({ selection, count }) => clamp((selection?.focus ?? 0) - 1, count),
  },
  { name: 'row-down', title: 'One row down', keys: ['ArrowDown'], target: (place) => vertical(place, 1) },
  { name: 'row-up', title: 'One row up', keys: ['ArrowUp'], target: (place) => vertical(place, -1) },
  {
    name: 'page-down',
    title: 'One page down',
    keys: ['PageDown'],
    target: (place) => vertical(place, place.pageLines),
  },
  { name: 'page-up', title: 'One page up', keys: ['PageUp'], target: (place) => vertical(place, -place.pageLines) },
  { name: 'next-segment', title: 'Next segment', keys: ['J'], target: (place) => segment(place, 1) },
  { name: 'previous-segment', title: 'Previous segment', keys: ['K'], target: (place) => segment(place, -1) },
  { name: 'first-token', title: 'First token', keys: ['g', 'Home'], target: () => 0 },
  { name: 'last-token', title: 'Last token', keys: ['G', 'End'], target: ({ count }) => count - 1 },
]

/** Returns the selection after a key, which is named as in key-name.ts; undefined if the key has no effect here. */
export function selectionOfKey(
  key: string,
  place: GridPlace,
): { readonly selection: Selection | undefined } | undefined {
  const { selection, count } = place
  if (count === 0) return undefined
  if (key === 'Escape') return selection && { selection: releaseSelection(selection) }
  if (key === SELECT_ALL) return { selection: widenSelection(place) }
  const plain = key.replace(/^Shift\+/, '')
  const move = GRID_MOVES.find(({ keys }) => keys.includes(plain))
  return move && moveSelection(move, place, plain !== key)
}

/** Returns the selection after a move; undefined if the move leads nowhere. */
export function moveSelection(
  move: GridMove,
  place: GridPlace,
  isExtending: boolean,
): { readonly selection: Selection } | undefined {
  const target = place.count === 0 ? undefined : move.target(place)
  if (target === undefined) return undefined
  const anchor = isExtending ? (place.selection?.anchor ?? target) : target
  return { selection: { anchor, focus: target } }
}

/** Returns the selection after Escape: the focused token if several are selected, else nothing. */
const releaseSelection = (selection: Selection): Selection | undefined =>
  isSingle(selection) ? undefined : single(selection.focus)

/** Returns a selection of all tokens of the segment; if those are selected, of all tokens. */
export function widenSelection({ layout, count, selection }: GridPlace): Selection {
  const all = { anchor: 0, focus: count - 1 }
  const around = selection && layout.segments[segmentOf(layout, selection.focus)]
  if (!around) return all
  const whole = { start: around.firstToken, end: around.firstToken + around.segment.ids.length }
  const { start, end } = selectedRange(selection)
  return start <= whole.start && end >= whole.end ? all : { anchor: whole.start, focus: whole.end - 1 }
}

const clamp = (index: number, count: number): number => Math.min(count - 1, Math.max(0, index))

/** Returns the token at the same column some lines away, or in the last line with tokens if there are fewer lines. */
function vertical({ layout, selection }: GridPlace, lines: number): number | undefined {
  if (selection === undefined) return 0
  const line = lineOfToken(layout, selection.focus)
  if (!line) return undefined
  const column = line.isFolded ? 0 : columnOfToken(layout, line, selection.focus)
  const wanted = clamp(line.number + lines, layout.lineCount)
  const step = Math.sign(lines)
  // A segment may have a line without tokens: it is skipped, and at an end the search turns back.
  const target = findLine(layout, wanted, step) ?? findLine(layout, wanted, -step)
  return target && tokenAtColumn(layout, target, column)
}

function findLine(layout: Layout, from: number, step: number): Line | undefined {
  for (let number = from; ; number += step) {
    const line = lineNumbered(layout, number)
    if (!line || line.end > line.start) return line
  }
}

function segment({ layout, selection }: GridPlace, step: 1 | -1): number | undefined {
  const current = selection === undefined ? -1 : segmentOf(layout, selection.focus)
  const others =
    step === 1 ? layout.segments.slice(current + 1) : layout.segments.slice(0, Math.max(0, current)).reverse()
  return others.find(({ segment }) => segment.ids.length > 0)?.firstToken ?? selection?.focus ?? 0
}

const segmentOf = (layout: Layout, token: number): number =>
  layout.segments.findIndex(({ firstToken, segment }) => token >= firstToken && token < firstToken + segment.ids.length)
