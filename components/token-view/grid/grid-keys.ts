/** Where the keys of the token view lead: the one table that the view, the palette and the list of keys read. */

import { isSingle, rangeOf, type Selection, single } from '../selection.ts'
import { columnOfToken, type Layout, type Line, lineNumbered, lineOfToken, tokenAtColumn } from './layout.ts'

export interface GridPlace {
  readonly layout: Layout
  /** Number of tokens. */
  readonly count: number
  readonly selection: Selection | undefined
  /** Lines that a page is. */
  readonly pageLines: number
}

export interface GridMove {
  readonly name: string
  readonly title: string
  readonly keys: readonly string[]
  /** The token that it leads to; undefined: nowhere. */
  readonly target: (place: GridPlace) => number | undefined
}

export const SELECT_ALL = 'Mod+a'

/** With Shift, keys that write no letter extend what is chosen. */
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

/** What is chosen after a key, as key-name.ts has it; undefined: the key is none of these, or leads nowhere. */
export function keyed(key: string, place: GridPlace): { readonly selection: Selection | undefined } | undefined {
  const { selection, count } = place
  if (count === 0) return undefined
  if (key === 'Escape') return selection && { selection: released(selection) }
  if (key === SELECT_ALL) return { selection: widened(place) }
  const plain = key.replace(/^Shift\+/, '')
  const move = GRID_MOVES.find(({ keys }) => keys.includes(plain))
  return move && moved(move, place, plain !== key)
}

/** What is chosen after a move. */
export function moved(
  move: GridMove,
  place: GridPlace,
  isExtending: boolean,
): { readonly selection: Selection } | undefined {
  const target = place.count === 0 ? undefined : move.target(place)
  if (target === undefined) return undefined
  const anchor = isExtending ? (place.selection?.anchor ?? target) : target
  return { selection: { anchor, focus: target } }
}

/** What Escape leaves: of several tokens the one that stands, of one nothing. */
const released = (selection: Selection): Selection | undefined =>
  isSingle(selection) ? undefined : single(selection.focus)

/** All tokens of the segment, and when those are chosen, all there are. */
export function widened({ layout, count, selection }: GridPlace): Selection {
  const all = { anchor: 0, focus: count - 1 }
  const around = selection && layout.segments[segmentOf(layout, selection.focus)]
  if (!around) return all
  const whole = { start: around.firstToken, end: around.firstToken + around.segment.ids.length }
  const { start, end } = rangeOf(selection)
  return start <= whole.start && end >= whole.end ? all : { anchor: whole.start, focus: whole.end - 1 }
}

const clamp = (index: number, count: number): number => Math.min(count - 1, Math.max(0, index))

/** The token so many lines away, at the same column; the last line that has tokens where there are not so many. */
function vertical({ layout, selection }: GridPlace, lines: number): number | undefined {
  if (selection === undefined) return 0
  const line = lineOfToken(layout, selection.focus)
  if (!line) return undefined
  const column = line.isFolded ? 0 : columnOfToken(layout, line, selection.focus)
  const wanted = clamp(line.number + lines, layout.lineCount)
  const step = Math.sign(lines)
  // A segment may have a line without tokens: past it, and at an end back to one that has some.
  const target = found(layout, wanted, step) ?? found(layout, wanted, -step)
  return target && tokenAtColumn(layout, target, column)
}

function found(layout: Layout, from: number, step: number): Line | undefined {
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
