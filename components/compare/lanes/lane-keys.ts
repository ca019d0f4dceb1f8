/** Keys of the lanes and where they lead. Keys for drift steps, only differences and one column belong to the whole page. */

import { columnOfToken, type DrawnLine, type LineSpace, tokenAtColumn } from '#components/token-view/grid/layout.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { LaneSelection } from './lanes-picture.ts'
import { driftOfToken, matchOf, type Pairing, runNumberOf, type Spot } from './pairing.ts'
import { drawnLine, type Item, itemOfRow, itemOfToken, type Rows, rowInItem, SIDES, tokenCountOf } from './rows/rows.ts'

/** State from which a key finds its target. */
export interface LanePlace {
  readonly rows: Rows
  readonly pairing: Pairing
  readonly chosen: LaneSelection | undefined
  /** Rows per page. */
  readonly pageRows: number
}

/** What a key in the lanes does. */
export type LaneAction =
  | { readonly kind: 'choose'; readonly chosen: LaneSelection }
  /** Pins a drift span as a click does. */
  | { readonly kind: 'pin'; readonly drift: number }
  /** Folds or unfolds an aligned run of equal tokens, by its number. */
  | { readonly kind: 'fold'; readonly run: number }
  | { readonly kind: 'fold-all' }
  /** Clears the selection. */
  | { readonly kind: 'release' }

interface LaneMove {
  readonly title: string
  readonly keys: readonly string[]
  /** Returns the target token; undefined: the key does nothing. */
  readonly target: (place: LanePlace) => Spot | undefined
}

/** Moves in the lanes. With Shift, keys that type no letter extend the selection. */
export const LANE_MOVES: readonly LaneMove[] = [
  { title: 'Next token', keys: ['j', 'ArrowRight'], target: (place) => stepFrom(place, 1) },
  { title: 'Previous token', keys: ['k', 'ArrowLeft'], target: (place) => stepFrom(place, -1) },
  {
    title: 'The other side’s token',
    keys: ['o'],
    target: ({ pairing, chosen }) => chosen && matchOf(pairing, spotOf(chosen)),
  },
  { title: 'One row down', keys: ['ArrowDown'], target: (place) => vertical(place, 1) },
  { title: 'One row up', keys: ['ArrowUp'], target: (place) => vertical(place, -1) },
  { title: 'One page down', keys: ['PageDown'], target: (place) => vertical(place, place.pageRows) },
  { title: 'One page up', keys: ['PageUp'], target: (place) => vertical(place, -place.pageRows) },
  { title: 'First token', keys: ['g', 'Home'], target: (place) => endOf(place, 'first') },
  { title: 'Last token', keys: ['G', 'End'], target: (place) => endOf(place, 'last') },
]

/** Returns the action of a key, named as in key-name.ts; undefined: the lanes do not handle the key. */
export function laneActionOfKey(key: string, place: LanePlace): LaneAction | undefined {
  const { chosen, pairing, rows } = place
  if (key === 'Z') return { kind: 'fold-all' }
  if (key === 'Escape') return chosen && { kind: 'release' }
  if (key === 'Enter' || key === 'z') {
    const item = chosen && itemOfToken(rows, chosen.side, chosen.focus)
    if (!item) return undefined
    if (item.kind !== 'tokens' || item.isOpened) return { kind: 'fold', run: runNumberOf(pairing, spotOf(chosen)) }
    const drift = key === 'Enter' ? driftOfToken(pairing, spotOf(chosen)) : undefined
    return drift === undefined ? undefined : { kind: 'pin', drift }
  }
  const plain = key.replace(/^Shift\+/, '')
  const target = LANE_MOVES.find(({ keys }) => keys.includes(plain))?.target(place)
  if (!target) return undefined
  const isExtending = plain !== key && chosen?.side === target.side
  const anchor = isExtending ? chosen.anchor : target.token
  return { kind: 'choose', chosen: { side: target.side, anchor, focus: target.token } }
}

/** Returns the token of a selection that has the focus. */
export const spotOf = ({ side, focus }: LaneSelection): Spot => ({ side, token: focus })

/** Returns the first token of a drift span, on the given side if it has tokens there, else on the other; undefined if on neither. */
export function firstOfDrift({ alignedRuns, driftRuns }: Pairing, drift: number, side: SideName): Spot | undefined {
  const alignedRun = alignedRuns[driftRuns[drift] ?? -1]
  if (!alignedRun) return undefined
  return [side, ...SIDES]
    .map((name) => ({ side: name, token: alignedRun[name].start, end: alignedRun[name].end }))
    .find(({ token, end }) => end > token)
}

/** Returns the next or previous token of the side; a fold is one step. */
function stepFrom({ rows, chosen }: LanePlace, step: 1 | -1): Spot | undefined {
  if (!chosen) return endOf({ rows }, 'first')
  const { side, focus } = chosen
  const item = itemOfToken(rows, side, focus)
  if (!item) return undefined
  const next = item.kind === 'tokens' ? focus + step : step === 1 ? item[side].end : item[side].start - 1
  return nearestSpot(rows, { side, token: Math.max(0, Math.min(tokenCountOf(rows.sides[side]) - 1, next)) })
}

/** Returns the token itself, or the first token of the fold that contains it. */
function nearestSpot(rows: Rows, spot: Spot): Spot | undefined {
  const item = itemOfToken(rows, spot.side, spot.token)
  return item && (item.kind === 'tokens' ? spot : { side: spot.side, token: item[spot.side].start })
}

function endOf(
  { rows, chosen }: Pick<LanePlace, 'rows'> & { readonly chosen?: LaneSelection | undefined },
  which: 'first' | 'last',
) {
  const side = chosen?.side ?? SIDES.find((name) => tokenCountOf(rows.sides[name]) > 0)
  if (side === undefined) return undefined
  return nearestSpot(rows, { side, token: which === 'first' ? 0 : tokenCountOf(rows.sides[side]) - 1 })
}

/** Returns the token `count` rows away at the same column on the same side. Rows without tokens of the side are skipped. */
function vertical(place: LanePlace, count: number): Spot | undefined {
  const { rows, chosen } = place
  if (!chosen) return endOf(place, 'first')
  const item = itemOfToken(rows, chosen.side, chosen.focus)
  if (!item) return undefined
  const at = rowInItem(rows, item, chosen.side, chosen.focus)
  const line = drawnLine(rows, item, at.row, at.side)
  const column = line ? columnOfToken(spaceOf(rows, at.side), line, at.token) : 0
  const wanted = Math.max(0, Math.min(rows.rowCount - 1, item.firstRow + at.row + count))
  const step = Math.sign(count)
  return findSpot(rows, wanted, step, chosen.side, column) ?? findSpot(rows, wanted, -step, chosen.side, column)
}

function findSpot(rows: Rows, from: number, step: number, side: SideName, column: number): Spot | undefined {
  for (let row = from; ; row += step) {
    const item = itemOfRow(rows, row)
    if (!item) return undefined
    const spot = tokenInRow(rows, item, row - item.firstRow, side, column)
    if (spot) return spot
  }
}

/** Returns the token at a column of a row: of the given side, or in one column of the side that the row shows. */
export function tokenInRow(rows: Rows, item: Item, row: number, side: SideName, column: number): Spot | undefined {
  if (item.kind !== 'tokens') return item[side].end > item[side].start ? { side, token: item[side].start } : undefined
  for (const name of rows.arrangement === 'lanes' ? [side] : SIDES) {
    const line: DrawnLine | undefined = drawnLine(rows, item, row, name)
    if (!line) continue
    const token = tokenAtColumn(spaceOf(rows, name), line, column)
    return token < 0 ? undefined : { side: name, token }
  }
  return undefined
}

const spaceOf = ({ columns, rowHeight, sides }: Rows, side: SideName): LineSpace => ({
  columns,
  rowHeight,
  table: sides[side].table,
})
