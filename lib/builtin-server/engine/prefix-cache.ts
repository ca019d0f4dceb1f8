/**
 * Keys and values of earlier token sequences: a prompt that begins like one of them is computed only from there on. A common beginning is
 * stored once: the cache is a tree whose edges are runs of tokens, split where sequences differ.
 */
import {
  type CacheNumbers,
  type KeyValues,
  numbersLike,
  positionsOf,
  type RowPositions,
} from '#lib/builtin-server/models/key-values.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'

/** The cache of one model. */
export interface PrefixCache {
  /** Returns the longest known beginning of these ids, of at most `limit` tokens, as one row. */
  find(ids: readonly number[], limit: number): KeyValues
  /** Stores a row; `ids` has at least as many entries as the row has positions. */
  keep(ids: readonly number[], of: RowPositions): void
  clear(): void
  /** Returns the bytes of all stored ids, keys and values, including the overhead of the tree. */
  bytes(): number
}

/**
 * Returns an empty cache. `empty` has the keys and values of no position. Above `maxBytes`, the least recently used ends of sequences are
 * removed first.
 */
export function createPrefixCache(empty: KeyValues, maxBytes: number): PrefixCache {
  const shapes = empty.tensors.map(({ dims, data }) => ({
    heads: elementAt(dims, 1),
    size: elementAt(dims, 3),
    none: data,
  }))
  const bytesPerToken = shapes.reduce((sum, { heads, size, none }) => sum + heads * size * none.BYTES_PER_ELEMENT, 4)
  const bytesPerRun = runBytes(shapes.length)
  const root: Run = { ids: new Int32Array(0), floats: [], parent: undefined, next: new Map() }
  /** All runs, the least recently used first; each comes before the run that precedes it in its sequence. */
  const byUse = new Set<Run>()
  let tokens = 0
  const bytes = (): number => tokens * bytesPerToken + byUse.size * bytesPerRun

  /** Returns the runs along these ids from the root; the last one may match only at its beginning. */
  const path = (ids: readonly number[], limit: number): Path => {
    const steps: Step[] = []
    let at = root
    let length = 0
    while (length < limit) {
      const next = at.next.get(elementAt(ids, length))
      if (!next) break
      const count = commonFrom(ids, length, limit, next.ids)
      steps.push({ run: next, count })
      length += count
      if (count < next.ids.length) break
      at = next
    }
    return { steps, length }
  }

  /** Marks consecutive runs as used. */
  const use = (runs: readonly Run[]): void => {
    for (const run of runs.toReversed()) {
      byUse.delete(run)
      byUse.add(run)
    }
  }

  /** Splits a run and returns its beginning, which is about to be used; the rest keeps its age. */
  const split = ({ run, count: at }: Step): Run => {
    const parent = run.parent as Run
    const before: Run = { ids: run.ids.slice(0, at), floats: [], parent, next: new Map() }
    shapes.forEach(({ heads, size }, index) => {
      const both = elementAt(run.floats, index)
      const length = run.ids.length
      before.floats.push(columns(both, heads, length * size, 0, at * size))
      run.floats[index] = columns(both, heads, length * size, at * size, length * size)
    })
    run.ids = run.ids.slice(at)
    run.parent = before
    before.next.set(int32At(run.ids, 0), run)
    parent.next.set(int32At(before.ids, 0), before)
    return before
  }

  const evict = (): void => {
    for (const oldest of byUse) {
      if (bytes() <= maxBytes) return
      oldest.parent?.next.delete(int32At(oldest.ids, 0))
      byUse.delete(oldest)
      tokens -= oldest.ids.length
    }
  }

  return {
    find(ids, limit) {
      const { steps, length } = path(ids, Math.min(limit, ids.length))
      if (length === 0) return empty
      use(steps.map(({ run }) => run))
      const tensors = shapes.map(({ heads, size, none }, index) => {
        const joined = numbersLike(none, heads * length * size)
        let at = 0
        for (const { run, count } of steps) {
          const width = run.ids.length * size
          const floats = elementAt(run.floats, index)
          for (let head = 0; head < heads; head++)
            joined.set(floats.subarray(head * width, head * width + count * size), head * length * size + at)
          at += count * size
        }
        return { dims: [1, heads, length, size], data: joined }
      })
      return { rows: 1, length, tensors }
    },
    keep(ids, { keyValues, row, length }) {
      if (length * bytesPerToken + bytesPerRun > maxBytes) return
      const { steps, length: known } = path(ids, length)
      const runs = steps.map(({ run }) => run)
      if (known === length) return use(runs)
      const last = steps.at(-1)
      if (last && last.count < last.run.ids.length) runs.splice(-1, 1, split(last))
      const parent = runs.at(-1) ?? root
      const padding = keyValues.length - length
      const floats = shapes.map(({ heads, size, none }, index) => {
        const width = (length - known) * size
        const own = numbersLike(none, heads * width)
        for (let head = 0; head < heads; head++)
          own.set(positionsOf(keyValues, index, row, head).subarray((padding + known) * size), head * width)
        return own
      })
      const added: Run = { ids: Int32Array.from(ids.slice(known, length)), floats, parent, next: new Map() }
      parent.next.set(int32At(added.ids, 0), added)
      use([...runs, added])
      tokens += added.ids.length
      evict()
    },
    clear() {
      root.next.clear()
      byUse.clear()
      tokens = 0
    },
    bytes,
  }
}

/** Returns the overhead of a run in bytes besides its ids, keys and values: measured with 20,000 runs, at 12 and 24 cache inputs. */
export const runBytes = (cacheInputs: number): number => 1000 + 600 * cacheInputs

/** Consecutive tokens that no sequence in the cache separates. */
interface Run {
  ids: Int32Array
  /** Keys and values for every cache input, shape [heads, tokens, head size]. */
  readonly floats: CacheNumbers[]
  parent: Run | undefined
  /** The following runs by their first id. */
  readonly next: Map<number, Run>
}

interface Step {
  readonly run: Run
  /** Number of its tokens that match. */
  readonly count: number
}

interface Path {
  readonly steps: readonly Step[]
  /** Number of tokens of all steps. */
  readonly length: number
}

/** Returns how many of the `ids` from `start` to `end` the run begins with. */
function commonFrom(ids: readonly number[], start: number, end: number, run: Int32Array): number {
  const most = Math.min(end - start, run.length)
  let count = 0
  while (count < most && ids[start + count] === run[count]) count++
  return count
}

/** Returns the floats from `from` to `to` of each of `rows` rows of `width` floats. */
function columns(floats: CacheNumbers, rows: number, width: number, from: number, to: number): CacheNumbers {
  const cut = numbersLike(floats, rows * (to - from))
  for (let row = 0; row < rows; row++) cut.set(floats.subarray(row * width + from, row * width + to), row * (to - from))
  return cut
}
