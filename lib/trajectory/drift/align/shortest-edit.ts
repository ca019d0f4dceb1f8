/** The shortest edit between two sequences (Myers, An O(ND) Difference Algorithm and Its Variations, 1986). */
import type { Box, CommonRun } from './box.ts'

/** Marks a diagonal that no path reaches. */
const NONE = -1

/**
 * Calls `add` with the unchanged runs of an edit, in order. An edit longer than `mostEdits` is put together from
 * several searches. Takes at most about 2 · `mostEdits` steps for each number of the box.
 */
export function shortestEdit(
  left: Int32Array,
  right: Int32Array,
  box: Box,
  mostEdits: number,
  add: (run: CommonRun) => void,
): void {
  const most = Math.min(mostEdits, box.left.end - box.left.start + box.right.end - box.right.start)
  const paths = furthestPaths(most)
  let from = { left: box.left.start, right: box.right.start }
  while (from.left < box.left.end || from.right < box.right.end) {
    const width = box.left.end - from.left
    const height = box.right.end - from.right
    const end = extend(left, right, from, width, height, most, paths)
    for (const run of runsTo(end, width, height, paths))
      add({ left: from.left + run.left, right: from.right + run.right, length: run.length })
    from = { left: from.left + end.x, right: from.right + end.x - end.diagonal }
  }
}

/**
 * Position on the left that a path reaches, for each diagonal (x − y) and number of edits: row d has the diagonals −d, −d +
 * 2, … d.
 */
interface Paths {
  readonly at: (edits: number, diagonal: number) => number
  readonly set: (edits: number, diagonal: number, x: number) => void
}

function furthestPaths(most: number): Paths {
  const xs = new Int32Array(((most + 1) * (most + 2)) / 2)
  const place = (edits: number, diagonal: number) => ((edits * (edits + 1)) >> 1) + ((edits + diagonal) >> 1)
  return {
    at: (edits, diagonal) =>
      edits < 0 || diagonal < -edits || diagonal > edits ? NONE : (xs[place(edits, diagonal)] as number),
    set: (edits, diagonal, x) => {
      xs[place(edits, diagonal)] = x
    },
  }
}

interface End {
  readonly edits: number
  readonly diagonal: number
  readonly x: number
}

/** Extends the paths to the end of both sides, or until the edit limit. */
function extend(
  left: Int32Array,
  right: Int32Array,
  from: { readonly left: number; readonly right: number },
  width: number,
  height: number,
  most: number,
  paths: Paths,
): End {
  let furthest: End = { edits: 0, diagonal: 0, x: 0 }
  for (let edits = 0; edits <= most; edits++) {
    furthest = { edits, diagonal: 0, x: NONE }
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : stepPath(paths, edits, diagonal, width, height)
      if (x !== NONE) {
        while (x < width && x - diagonal < height && left[from.left + x] === right[from.right + x - diagonal]) x++
        if (x === width && x - diagonal === height) return { edits, diagonal, x }
        if (furthest.x === NONE || 2 * x - diagonal > 2 * furthest.x - furthest.diagonal)
          furthest = { edits, diagonal, x }
      }
      paths.set(edits, diagonal, x)
    }
  }
  return furthest
}

/** Applies the last edit: it consumes one more number of the left (from the diagonal below) or of the right. */
function stepPath(paths: Paths, edits: number, diagonal: number, width: number, height: number): number {
  const below = paths.at(edits - 1, diagonal - 1)
  const above = paths.at(edits - 1, diagonal + 1)
  const leftwards = below === NONE || below === width ? NONE : below + 1
  const rightwards = above === NONE || above - (diagonal + 1) === height ? NONE : above
  return Math.max(leftwards, rightwards)
}

/** Returns the unchanged runs of the path to an end. */
function runsTo({ edits, diagonal, x }: End, width: number, height: number, paths: Paths): readonly CommonRun[] {
  const runs: CommonRun[] = []
  let [end, on] = [x, diagonal]
  for (let count = edits; count >= 0; count--) {
    const start = count === 0 ? 0 : stepPath(paths, count, on, width, height)
    runs.push({ left: start, right: start - on, length: end - start })
    if (count === 0) break
    const below = paths.at(count - 1, on - 1)
    const isLeft = below !== NONE && below < width && below + 1 === start
    end = isLeft ? below : start
    on = isLeft ? on - 1 : on + 1
  }
  return runs.reverse()
}
