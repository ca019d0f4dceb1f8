/** The merges of BPE by the ids of their two parts, and the merging of a word. */
import { elementAt, int32At } from '#lib/util/element-at.ts'

/** Merges in a hash table with open addressing. */
export interface MergeTable {
  /** Left, right, rank and merged id of each place; −1 where it is free. */
  readonly entries: Int32Array
  set(left: number, right: number, rank: number, merged: number): void
  /** Returns the place of a merge for `rankAt` and `mergedAt`; -1 if two ids are not merged. */
  find(left: number, right: number): number
  rankAt(place: number): number
  mergedAt(place: number): number
}

/** Numbers of an entry: left, right, rank and merged id. */
const WIDTH = 4

/** Creates an empty table for this many merges. */
export const emptyMergeTable = (count: number): MergeTable =>
  mergeTable(new Int32Array(WIDTH * 2 ** Math.ceil(Math.log2(1.4 * count + 1))).fill(-1))

/** Returns the table with the entries of another one. */
export function mergeTable(entries: Int32Array): MergeTable {
  const last = entries.length / WIDTH - 1
  /** Returns the place of an entry, or the free place where it belongs. */
  const placeOf = (left: number, right: number): number => {
    const hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)
    let slot = (hash ^ (hash >>> 15)) & last
    for (;;) {
      const place = WIDTH * slot
      const found = entries[place]
      if (found === -1 || (found === left && entries[place + 1] === right)) return place
      slot = (slot + 1) & last
    }
  }
  return {
    entries,
    set(left, right, rank, merged) {
      entries.set([left, right, rank, merged], placeOf(left, right))
    },
    find(left, right) {
      const place = placeOf(left, right)
      return entries[place] === -1 ? -1 : place
    },
    rankAt: (place) => int32At(entries, place + 2),
    mergedAt: (place) => int32At(entries, place + 3),
  }
}

/** Merges the bytes of a word: always the pair of lowest rank, and of equal ones the leftmost. */
export function mergeBytes(bytes: Uint8Array, idsOfBytes: ArrayLike<number>, merges: MergeTable): number[] {
  const count = bytes.length
  const ids = Int32Array.from(bytes, (byte) => elementAt(idsOfBytes, byte))
  const next = Int32Array.from(bytes, (_, at) => at + 1)
  const previous = Int32Array.from(bytes, (_, at) => at - 1)
  /** The place of the merge of each part with the next one; -1: there is none, or the part is no longer there. */
  const places = new Int32Array(count).fill(-1)
  const queue: number[] = []
  const examine = (at: number): void => {
    const right = int32At(next, at)
    const place = right < count ? merges.find(int32At(ids, at), int32At(ids, right)) : -1
    places[at] = place
    if (place >= 0) push(queue, merges.rankAt(place) * count + at)
  }
  for (let at = 0; at < count - 1; at++) examine(at)
  for (let key = pop(queue); key !== undefined; key = pop(queue)) {
    const at = key % count
    const place = int32At(places, at)
    // A merge of one of the two parts came first.
    if (place < 0 || merges.rankAt(place) * count + at !== key) continue
    const right = int32At(next, at)
    const after = int32At(next, right)
    ids[at] = merges.mergedAt(place)
    next[at] = after
    places[right] = -1
    if (after < count) previous[after] = at
    examine(at)
    if (at > 0) examine(int32At(previous, at))
  }
  const merged: number[] = []
  for (let at = 0; at < count; at = int32At(next, at)) merged.push(int32At(ids, at))
  return merged
}

/** Adds a number to a binary heap. */
function push(heap: number[], key: number): void {
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (elementAt(heap, parent) <= key) break
    heap[at] = elementAt(heap, parent)
    at = parent
  }
  heap[at] = key
}

/** Removes and returns the smallest number of a binary heap. */
function pop(heap: number[]): number | undefined {
  const smallest = heap[0]
  const last = heap.pop()
  const { length } = heap
  if (last === undefined || length === 0) return smallest
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= length) break
    if (child + 1 < length && elementAt(heap, child + 1) < elementAt(heap, child)) child++
    if (elementAt(heap, child) >= last) break
    heap[at] = elementAt(heap, child)
    at = child
  }
  heap[at] = last
  return smallest
}
