/**
 * The rows of the tree of a group: heads of branches, lines of tokens and folds, from top to bottom. The rows of a branch need its
 * tokens; until they are loaded, its height is estimated from their number.
 */
import { rowHeightOf } from '#components/token-view/grid-options.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import type { SampleBranch, SampleTree, TreeSpot } from '../tree.ts'
import type { BranchLines } from './branch-lines.ts'
import type { BranchMode } from './folds.ts'

/** A part of the tree with a height. */
export type TreeItem =
  /** The head of a branch: its number of samples, its mean reward and its samples. */
  | { readonly kind: 'head'; readonly branch: number; readonly rows: 1 }
  /** Lines of one segment: `from` is the number of the first one among the lines of the branch. */
  | {
      readonly kind: 'tokens'
      readonly branch: number
      readonly segment: number
      readonly from: number
      readonly rows: number
      readonly lines: BranchLines
      /** Whether the branch is folded, so that the text of the fold follows the tokens on the same line. */
      readonly isFolded: boolean
    }
  /** A line for tokens that are not shown: within a branch, or all of a folded branch. */
  | {
      readonly kind: 'fold'
      readonly branch: number
      readonly tokens: Span
      readonly isBranch: boolean
      readonly rows: 1
    }
  /** Space for tokens that are not loaded yet. */
  | { readonly kind: 'pending'; readonly branch: number; readonly rows: number }

/** The rows of a tree at one width. */
export interface TreeRows {
  readonly tree: SampleTree
  readonly items: readonly TreeItem[]
  /** Top of each item in pixels, then the height of all items. */
  readonly tops: Float64Array
  /** Number of the first row of each item, then the number of all rows. */
  readonly firstRows: Int32Array
  /** Index of the first item of each branch; -1 if a folded branch hides it. */
  readonly itemOfBranch: Int32Array
  readonly rowHeight: number
  readonly height: number
}

/** What the rows depend on, besides the tree. */
export interface RowSettings {
  readonly modeOf: (branch: number) => BranchMode
  /** Returns the lines of a branch; undefined until its tokens are loaded. */
  readonly linesOf: (branch: SampleBranch) => BranchLines | undefined
  /** Returns the segment of a token of a branch, whose tokens are loaded. */
  readonly segmentOf: (branch: SampleBranch, token: number) => number
  /** Returns the number of columns of a branch. */
  readonly columnsOf: (branch: SampleBranch) => number
  readonly fontSize: number
}

/** Lines that a branch shows before and after its fold. Those at its end are the context of the next split. */
const FIRST_LINES = 4
const LAST_LINES = 3
/** Lines at the end of the tokens that all samples share: the question and the begin of the answer. */
const SHARED_LINES = 9
/** Fewer lines are not folded, because the fold itself is one. */
const FEWEST_FOLDED = 3
/** Space above the head of a branch, and around a segment of the shared tokens, in pixels. */
const HEAD_GAP = 4
/** Space above and below each segment of the tokens that all samples share, in pixels. */
export const SEGMENT_GAP = 10
/** Space below the last item, in pixels. */
const END_GAP = 16
/** Usual number of cells of a token, for tokens that are not loaded. */
const USUAL_CELLS = 4.4

/** Returns whether a branch is the beginning of all samples, which has no head. */
export const isShared = (tree: SampleTree, { parent }: SampleBranch): boolean =>
  parent === undefined && tree.roots.length === 1

/** Returns the rows of a tree. Branches inside a folded one have none. */
export function rowsOfTree(tree: SampleTree, settings: RowSettings): TreeRows {
  const items: TreeItem[] = []
  const itemOfBranch = new Int32Array(tree.branches.length).fill(-1)
  const open = [...tree.roots].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const branch = elementAt(tree.branches, next)
    const mode = settings.modeOf(next)
    itemOfBranch[next] = items.length
    items.push(...itemsOf(tree, branch, mode, settings))
    if (mode !== 'folded') open.push(...[...branch.children].reverse())
  }
  const rowHeight = rowHeightOf(settings.fontSize)
  const tops = new Float64Array(items.length + 1)
  const firstRows = new Int32Array(items.length + 1)
  for (const [index, item] of items.entries()) {
    const { before, after } = gapsOf(tree, item)
    tops[index] = float64At(tops, index) + before
    tops[index + 1] = float64At(tops, index) + item.rows * rowHeight + after
    firstRows[index + 1] = int32At(firstRows, index) + item.rows
  }
  const height = float64At(tops, items.length) + END_GAP
  return { tree, items, tops, firstRows, itemOfBranch, rowHeight, height }
}

function gapsOf(tree: SampleTree, item: TreeItem): { readonly before: number; readonly after: number } {
  if (item.kind === 'head') return { before: HEAD_GAP, after: 0 }
  const isPadded = item.kind !== 'fold' && isShared(tree, elementAt(tree.branches, item.branch))
  return isPadded ? { before: SEGMENT_GAP, after: SEGMENT_GAP } : { before: 0, after: 0 }
}

function itemsOf(
  tree: SampleTree,
  branch: SampleBranch,
  mode: BranchMode,
  { linesOf, segmentOf, columnsOf }: RowSettings,
): readonly TreeItem[] {
  const { index } = branch
  const shared = isShared(tree, branch)
  const head: readonly TreeItem[] = shared ? [] : [{ kind: 'head', branch: index, rows: 1 }]
  const fold = (tokens: Span, isBranch: boolean): TreeItem => ({
    kind: 'fold',
    branch: index,
    tokens,
    isBranch,
    rows: 1,
  })
  const whole = { start: branch.start, end: branch.end }
  if (branch.end === branch.start) return mode === 'folded' ? [...head, fold(whole, true)] : head
  const lines = linesOf(branch)
  if (mode === 'folded') {
    if (!lines || lines.starts.length === 0) return [...head, fold(whole, true)]
    const segment = segmentOf(branch, branch.start)
    return [...head, { kind: 'tokens', branch: index, segment, from: 0, rows: 1, lines, isFolded: true }]
  }
  if (!lines)
    return [...head, { kind: 'pending', branch: index, rows: estimatedRows(branch, mode, shared, columnsOf(branch)) }]
  const runs = (from: number, to: number): readonly TreeItem[] => {
    const found: TreeItem[] = []
    for (let line = from; line < to; ) {
      const segment = segmentOf(branch, int32At(lines.starts, line))
      let next = line + 1
      while (next < to && segmentOf(branch, int32At(lines.starts, next)) === segment) next++
      found.push({ kind: 'tokens', branch: index, segment, from: line, rows: next - line, lines, isFolded: false })
      line = next
    }
    return found
  }
  const count = lines.starts.length
  const { first, last } = visibleLines(count, mode, shared)
  if (first + last >= count) return [...head, ...runs(0, count)]
  const hidden = {
    start: int32At(lines.starts, first),
    end: int32At(lines.starts, count - last),
  }
  return [...head, ...runs(0, first), fold(hidden, false), ...runs(count - last, count)]
}

/** Returns how many lines a branch shows at its beginning and at its end. */
function visibleLines(
  count: number,
  mode: BranchMode,
  shared: boolean,
): { readonly first: number; readonly last: number } {
  const [first, last] = shared ? [0, SHARED_LINES] : [FIRST_LINES, LAST_LINES]
  return mode === 'whole' || count < first + last + FEWEST_FOLDED ? { first: count, last: 0 } : { first, last }
}

function estimatedRows({ start, end }: SampleBranch, mode: BranchMode, shared: boolean, columns: number): number {
  const count = Math.max(1, Math.ceil(((end - start) * USUAL_CELLS) / columns))
  const { first, last } = visibleLines(count, mode, shared)
  return first + last >= count ? count : first + 1 + last
}

/** Returns the index of the item at a height in pixels, or of the nearest one; -1 if there are none. */
export function itemIndexAtHeight({ tops, items }: TreeRows, height: number): number {
  return (
    Math.min(
      items.length,
      Math.max(
        1,
        countWhile(items.length, (index) => float64At(tops, index) <= height),
      ),
    ) - 1
  )
}

/** Returns the indices of the items that overlap a range of heights, half-open. */
export function itemSpanBetween(rows: TreeRows, top: number, bottom: number): Span {
  if (rows.items.length === 0) return { start: 0, end: 0 }
  return { start: itemIndexAtHeight(rows, top), end: itemIndexAtHeight(rows, bottom) + 1 }
}

/** Returns the item that shows a token: its line, the fold that hides it, or the fold of the branch around it. */
export function itemOfSpot(rows: TreeRows, spot: TreeSpot): number {
  const { branches } = rows.tree
  let { branch } = spot
  while (int32At(rows.itemOfBranch, branch) < 0) {
    const parent = branches[branch]?.parent
    if (parent === undefined) return -1
    branch = parent
  }
  const first = int32At(rows.itemOfBranch, branch)
  if (branch !== spot.branch) return lastItemOf(rows, branch)
  for (let index = first; index < rows.items.length && rows.items[index]?.branch === branch; index++) {
    const tokens = tokensOfItem(rows, index)
    if (tokens && spot.token >= tokens.start && spot.token < tokens.end) return index
  }
  return lastItemOf(rows, branch)
}

function lastItemOf({ items, itemOfBranch }: TreeRows, branch: number): number {
  let index = int32At(itemOfBranch, branch)
  while (items[index + 1]?.branch === branch) index++
  return index
}

/** Returns the tokens that an item shows or hides; undefined for the head of a branch. */
export function tokensOfItem({ tree, items }: TreeRows, index: number): Span | undefined {
  const item = elementAt(items, index)
  if (item.kind === 'head') return undefined
  if (item.kind === 'fold') return item.tokens
  const branch = elementAt(tree.branches, item.branch)
  if (item.kind === 'pending') return { start: branch.start, end: branch.end }
  const { lines, from, rows } = item
  return { start: int32At(lines.starts, from), end: lines.starts[from + rows] ?? lines.end }
}

/** Returns the tokens of one line of an item. */
export function tokensOfItemLine({ lines, from }: Extract<TreeItem, { kind: 'tokens' }>, row: number): Span {
  return { start: int32At(lines.starts, from + row), end: lines.starts[from + row + 1] ?? lines.end }
}

/** Returns the row of an item that contains a token; 0 if the item has no lines. */
export function rowOfToken(item: TreeItem, token: number): number {
  if (item.kind !== 'tokens') return 0
  const { lines, from, rows } = item
  return Math.max(0, countWhile(rows, (row) => int32At(lines.starts, from + row) <= token) - 1)
}
