/** The keys of the tree and where they lead. Keys for splits, folds and the decisive token belong to the whole page. */
import { columnOfToken, tokenAtColumn } from '#components/token-view/grid/layout.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import type { SampleBranch, SampleTree, TreeSpot } from '../tree.ts'
import { itemOfSpot, rowOfToken, type TreeRows, tokensOfItem } from './rows.ts'
import { drawnLineOf, itemIndexOfRow, spotOfRow } from './tree-lines.ts'
import type { TreePicture } from './tree-picture.ts'

/** State from which a key finds its target. */
export interface KeyPlace {
  readonly picture: TreePicture
  readonly pinned: TreeSpot | undefined
  /** Rows of a page. */
  readonly pageRows: number
}

interface TreeMove {
  readonly title: string
  readonly keys: readonly string[]
  /** Returns the token to go to; undefined if there is none. */
  readonly target: (place: KeyPlace) => TreeSpot | undefined
}

/** Moves in the tree. */
export const TREE_MOVES: readonly TreeMove[] = [
  {
    title: 'Next token; after the last one of a branch, into the branch with most samples',
    keys: ['j', 'ArrowRight'],
    target: (place) => stepFrom(place, 1),
  },
  { title: 'Previous token', keys: ['k', 'ArrowLeft'], target: (place) => stepFrom(place, -1) },
  { title: 'Next branch', keys: ['J'], target: ({ picture, pinned }) => branchFrom(picture.rows, pinned, 1) },
  { title: 'Previous branch', keys: ['K'], target: ({ picture, pinned }) => branchFrom(picture.rows, pinned, -1) },
  { title: 'One row down', keys: ['ArrowDown'], target: (place) => vertical(place, 1) },
  { title: 'One row up', keys: ['ArrowUp'], target: (place) => vertical(place, -1) },
  { title: 'One page down', keys: ['PageDown'], target: (place) => vertical(place, place.pageRows) },
  { title: 'One page up', keys: ['PageUp'], target: (place) => vertical(place, -place.pageRows) },
  { title: 'First row', keys: ['g', 'Home'], target: ({ picture }) => rowFrom(picture.rows, 0, 1) },
  { title: 'Last row', keys: ['G', 'End'], target: ({ picture: { rows } }) => rowFrom(rows, lastRow(rows), -1) },
]

/** Returns the token that a key leads to; undefined if the tree does not handle the key, or if there is no such token. */
export const spotOfKey = (key: string, place: KeyPlace): TreeSpot | undefined =>
  TREE_MOVES.find(({ keys }) => keys.includes(key))?.target(place)

const lastRow = ({ firstRows, items }: TreeRows): number => int32At(firstRows, items.length) - 1

/** Returns the next or previous token on the path. A fold is one step. */
function stepFrom({ picture, pinned }: KeyPlace, step: 1 | -1): TreeSpot | undefined {
  const { rows } = picture
  if (!pinned) return rowFrom(rows, 0, 1)
  const index = itemOfSpot(rows, pinned)
  const item = rows.items[index]
  const branch = rows.tree.branches[pinned.branch]
  if (!item || !branch) return undefined
  const tokens = tokensOfItem(rows, index)
  const isFolded = item.kind === 'fold' && tokens !== undefined
  const next = isFolded ? (step === 1 ? tokens.end : tokens.start - 1) : pinned.token + step
  if (next >= branch.start && next < branch.end) return visibleSpot(rows, { branch: branch.index, token: next })
  if (step === 1) return firstSpot(rows.tree, branch.children) ?? pinned
  const before = branch.parent === undefined ? undefined : rows.tree.branches[branch.parent]
  return before && before.end > before.start ? { branch: before.index, token: before.end - 1 } : pinned
}

/** Returns the token itself, or the first token of the fold that hides it. */
function visibleSpot(rows: TreeRows, spot: TreeSpot): TreeSpot {
  const index = itemOfSpot(rows, spot)
  const item = rows.items[index]
  return item?.kind === 'fold' && item.branch === spot.branch
    ? { branch: spot.branch, token: tokensOfItem(rows, index)?.start ?? spot.token }
    : spot
}

function firstSpot({ branches }: SampleTree, among: readonly number[]): TreeSpot | undefined {
  const found = among.map((index) => elementAt(branches, index)).find(({ start, end }) => end > start)
  return found && { branch: found.index, token: found.start }
}

/** Returns the first token of the next or previous visible branch. */
function branchFrom(rows: TreeRows, pinned: TreeSpot | undefined, step: 1 | -1): TreeSpot | undefined {
  const { branches } = rows.tree
  const visible = drawnBranches(rows)
  const at = pinned ? visible.findIndex(({ index }) => index === pinned.branch) : -1
  const rest = step === 1 ? visible.slice(at + 1) : visible.slice(0, Math.max(0, at)).reverse()
  // Going back, the beginning of the own branch is first.
  const own = pinned && branches[pinned.branch]
  if (step === -1 && own && pinned.token > own.start) return { branch: own.index, token: own.start }
  const next = rest.find(({ start, end }) => end > start)
  return next ? { branch: next.index, token: next.start } : pinned
}

/** Returns the branches that are not inside a folded one, from top to bottom. */
const drawnBranches = ({ tree, itemOfBranch }: TreeRows): readonly SampleBranch[] =>
  tree.branches
    .filter(({ index }) => int32At(itemOfBranch, index) >= 0)
    .toSorted((a, b) => int32At(itemOfBranch, a.index) - int32At(itemOfBranch, b.index))

/** Returns the token at the same column some rows away. Heads are skipped. */
function vertical({ picture, pinned }: KeyPlace, count: number): TreeSpot | undefined {
  const { rows, pictureOf } = picture
  if (!pinned) return rowFrom(rows, 0, 1)
  const index = itemOfSpot(rows, pinned)
  const item = rows.items[index]
  const branch = rows.tree.branches[pinned.branch]
  if (!item || !branch) return undefined
  const row = item.branch === pinned.branch ? rowOfToken(item, pinned.token) : 0
  const drawn = pictureOf(branch)
  const line = drawn && drawnLineOf(rows, index, row, drawn)
  const left =
    line && drawn ? columnOfToken(drawn.layout, line, pinned.token) * picture.cell + picture.indentOf(branch) : 0
  const wanted = Math.max(0, Math.min(lastRow(rows), int32At(rows.firstRows, index) + row + count))
  const step = Math.sign(count)
  const found = rowFrom(rows, wanted, step) ?? rowFrom(rows, wanted, -step)
  if (!found) return undefined
  return atColumn(picture, found, left)
}

/** Returns the token of the same row at a distance from the left edge, in pixels. */
function atColumn(picture: TreePicture, spot: TreeSpot, left: number): TreeSpot {
  const { rows } = picture
  const branch = elementAt(rows.tree.branches, spot.branch)
  const index = itemOfSpot(rows, spot)
  const item = rows.items[index]
  const drawn = picture.pictureOf(branch)
  const line = item && drawn && drawnLineOf(rows, index, rowOfToken(item, spot.token), drawn)
  if (!line || !drawn) return spot
  const column = Math.max(0, Math.floor((left - picture.indentOf(branch)) / picture.cell))
  const token = tokenAtColumn(drawn.layout, line, column)
  return token < 0 ? spot : { branch: spot.branch, token }
}

function rowFrom(rows: TreeRows, from: number, step: number): TreeSpot | undefined {
  for (let row = from; row >= 0 && row <= lastRow(rows); row += step) {
    if (rows.items[itemIndexOfRow(rows, row)]?.kind === 'head') continue
    const spot = spotOfRow(rows, row)
    if (spot) return spot
  }
  return undefined
}
