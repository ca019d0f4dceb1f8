/** Implements sorted(), comparing in the order in which CPython does, so that values without an order fail on the same pair. */

import { elementAt } from '#lib/util/element-at.ts'
import { compareValues } from './comparison.ts'
import type { Runtime, Value } from './values.ts'

/** Returns the items sorted by their keys. The sort is stable, with `reverse` too. */
export function sortBy<T>(items: readonly T[], key: (item: T) => Value, reverse: boolean, runtime: Runtime): T[] {
  runtime.allocate(items.length)
  const cells = items.map((item) => ({ item, key: key(item) }))
  if (reverse) cells.reverse()
  const less = (a: Cell<T>, b: Cell<T>): boolean => {
    runtime.step()
    return compareValues('<', a.key, b.key, runtime)
  }
  const result = mergedRuns(cells, less)
  if (reverse) result.reverse()
  return result.map(({ item }) => item)
}

interface Cell<T> {
  readonly item: T
  readonly key: Value
}

type Less<T> = (a: Cell<T>, b: Cell<T>) => boolean

/** Items that are sorted by binary insertion at once; CPython takes runs of 32 to 64. */
const RUN = 64

function mergedRuns<T>(cells: readonly Cell<T>[], less: Less<T>): Cell<T>[] {
  let runs: Cell<T>[][] = []
  for (let start = 0; start < cells.length; start += RUN)
    runs.push(insertionSorted(cells.slice(start, start + RUN), less))
  while (runs.length > 1) {
    const next: Cell<T>[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      const [left = [], right] = [runs[index], runs[index + 1]]
      next.push(right ? mergeCells(left, right, less) : left)
    }
    runs = next
  }
  return runs[0] ?? []
}

function mergeCells<T>(left: readonly Cell<T>[], right: readonly Cell<T>[], less: Less<T>): Cell<T>[] {
  const result: Cell<T>[] = []
  let [at, other] = [0, 0]
  while (at < left.length && other < right.length) {
    const [a, b] = [elementAt(left, at), elementAt(right, other)]
    if (less(b, a)) {
      result.push(b)
      other += 1
    } else {
      result.push(a)
      at += 1
    }
  }
  return [...result, ...left.slice(at), ...right.slice(other)]
}

/** Sorts a run: keeps the items that are already in order, reversed if they fall, and inserts the others one by one. */
function insertionSorted<T>(cells: Cell<T>[], less: Less<T>): Cell<T>[] {
  const ordered = firstRun(cells, less)
  for (const cell of cells.slice(ordered.length)) {
    let [low, high] = [0, ordered.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (less(cell, elementAt(ordered, middle))) high = middle
      else low = middle + 1
    }
    ordered.splice(low, 0, cell)
  }
  return ordered
}

function firstRun<T>(cells: readonly Cell<T>[], less: Less<T>): Cell<T>[] {
  if (cells.length < 2) return [...cells]
  const pair = (index: number): boolean => less(elementAt(cells, index), elementAt(cells, index - 1))
  const falls = pair(1)
  let end = 2
  while (end < cells.length && pair(end) === falls) end += 1
  const run = cells.slice(0, end)
  return falls ? run.reverse() : run
}
