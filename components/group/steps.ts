/** Where the keys of the page lead: the decisive token, splits, and the next largest value of the colour. */
import type { NumberMode } from '#components/token-view/colour/mode.ts'
import { isTrained, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { decisiveBranches, type SampleSplit, type SampleTree, splitsOfTree, type TreeSpot } from './tree.ts'

/** Returns the decisive token: the first one of its branch with the higher mean reward; undefined if there is none. */
export function decisiveSpot(tree: SampleTree): TreeSpot | undefined {
  const [high, low] = decisiveBranches(tree) ?? []
  const branch = high && high.end > high.start ? high : low
  return branch && { branch: branch.index, token: branch.start }
}

/** Returns the first token of a split; undefined if all of its samples end there. */
function spotOfSplit({ branches }: SampleSplit): TreeSpot | undefined {
  const branch = branches.find(({ start, end }) => end > start)
  return branch && { branch: branch.index, token: branch.start }
}

/** Returns the next or previous split in the order of the tree, from the pinned token; undefined if there is none. */
export function splitAfter(tree: SampleTree, pinned: TreeSpot | undefined, step: 1 | -1): TreeSpot | undefined {
  const splits = splitsOfTree(tree).flatMap((split) => {
    const spot = spotOfSplit(split)
    return spot ? [{ spot, after: split.after }] : []
  })
  if (!pinned) return splits.at(step === 1 ? 0 : -1)?.spot
  if (step === 1) return splits.find(({ after }) => after >= pinned.branch)?.spot
  const own = elementAt(tree.branches, pinned.branch).parent ?? -1
  const before = splits.findLast(({ after, spot }) => after < own || (after === own && !isSameSpot(spot, pinned)))
  return before?.spot
}

const isSameSpot = (a: TreeSpot, b: TreeSpot): boolean => a.branch === b.branch && a.token === b.token

/** Returns the splits by their difference in mean reward, the largest first. Those without a difference are left out. */
export function splitsByDifference(tree: SampleTree): readonly TreeSpot[] {
  return splitsOfTree(tree)
    .filter(({ difference }) => difference > 0)
    .toSorted((a, b) => b.difference - a.difference)
    .flatMap(({ branches }) => {
      const [best] = branches
        .filter(({ start, end, reward }) => end > start && reward)
        .toSorted((a, b) => (b.reward?.mean ?? 0) - (a.reward?.mean ?? 0))
      return best ? [{ branch: best.index, token: best.start }] : []
    })
}

/** Returns the tokens of a trajectory by their value in a colour mode, the farthest from its origin first, at most `most`. */
export function tokensByValue(
  trajectory: TrajectoryView,
  mode: NumberMode,
  origin: number,
  most: number,
): readonly number[] {
  const found: { readonly token: number; readonly far: number }[] = []
  const starts = segmentStarts(trajectory)
  for (const [index, segment] of segmentsOf(trajectory).entries()) {
    const read = mode.read(segment)
    if (!read) continue
    for (let offset = 0; offset < segment.ids.length; offset++) {
      if (mode.scope === 'trained' && !isTrained(segment, offset)) continue
      const far = Math.abs(read(offset) - origin)
      if (Number.isFinite(far)) found.push({ token: elementAt(starts, index) + offset, far })
    }
  }
  return found
    .sort((a, b) => b.far - a.far || a.token - b.token)
    .slice(0, most)
    .map(({ token }) => token)
}

/** Returns the spot after the pinned one in a list, from its beginning if the pinned one is not in it; undefined for an empty list. */
export function spotAfter(spots: readonly TreeSpot[], pinned: TreeSpot | undefined): TreeSpot | undefined {
  const at = spots.findIndex((spot) => pinned !== undefined && isSameSpot(spot, pinned))
  return spots[(at + 1) % Math.max(1, spots.length)]
}
