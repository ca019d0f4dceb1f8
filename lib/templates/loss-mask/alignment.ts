/**
 * Finds which tokens of one sequence correspond to which of another: those with equal ids in the same order, and between them ranges
 * that spell the same bytes in other tokens. The remaining tokens have no counterpart: they are never paired by position or proportion.
 */

import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { MaskedTokens } from './masked-tokens.ts'

type Spelled = Pick<MaskedTokens, 'ids' | 'bytes'>

/** Half-open ranges of tokens in both sequences. same: equal ids, token by token. bytes: the same bytes in other tokens. */
export interface AlignedBlock {
  readonly kind: 'same' | 'bytes'
  readonly a: readonly [start: number, end: number]
  readonly b: readonly [start: number, end: number]
}

/** Returns the blocks in order, without overlaps. */
export function align(a: Spelled, b: Spelled): readonly AlignedBlock[] {
  const runs = equalRuns(a.ids, b.ids)
  const blocks: AlignedBlock[] = []
  let [fromA, fromB] = [0, 0]
  for (const run of [...runs, { a: a.ids.length, b: b.ids.length, length: 0 }]) {
    blocks.push(...sameBytes(a, b, [fromA, run.a], [fromB, run.b]))
    ;[fromA, fromB] = [run.a + run.length, run.b + run.length]
    if (run.length > 0) blocks.push({ kind: 'same', a: [run.a, fromA], b: [run.b, fromB] })
  }
  return blocks
}

interface EqualRun {
  readonly a: number
  readonly b: number
  readonly length: number
}

/**
 * Returns runs of equal ids, in order in both: the common beginning and end, then ids that occur once in each, then the same between those
 * (patience diff). A common id that occurs several times anchors nothing.
 */
function equalRuns(a: readonly number[], b: readonly number[]): readonly EqualRun[] {
  const runs: EqualRun[] = []
  const open: { startA: number; endA: number; startB: number; endB: number }[] = [
    { startA: 0, endA: a.length, startB: 0, endB: b.length },
  ]
  for (let window = open.pop(); window; window = open.pop()) {
    let { startA, endA, startB, endB } = window
    const [beginA, beginB] = [startA, startB]
    while (startA < endA && startB < endB && a[startA] === b[startB]) [startA, startB] = [startA + 1, startB + 1]
    if (startA > beginA) runs.push({ a: beginA, b: beginB, length: startA - beginA })
    const [stopA] = [endA]
    while (startA < endA && startB < endB && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1]
    if (stopA > endA) runs.push({ a: endA, b: endB, length: stopA - endA })
    if (startA === endA || startB === endB) continue
    const anchors = increasing(uniquePairs(a, b, { startA, endA, startB, endB }))
    for (const [index, anchor] of anchors.entries()) {
      const next = anchors[index + 1]
      open.push({ startA: anchor.a, endA: next?.a ?? endA, startB: anchor.b, endB: next?.b ?? endB })
    }
    const [first] = anchors
    if (first) open.push({ startA, endA: first.a, startB, endB: first.b })
  }
  return runs.sort((x, y) => x.a - y.a)
}

interface Pair {
  readonly a: number
  readonly b: number
}

/** Returns the ids that occur exactly once in each window, in the order of the first. */
function uniquePairs(
  a: readonly number[],
  b: readonly number[],
  { startA, endA, startB, endB }: { startA: number; endA: number; startB: number; endB: number },
): readonly Pair[] {
  const once = (ids: readonly number[], start: number, end: number): Map<number, number> => {
    const places = new Map<number, number>()
    for (let index = start; index < end; index++) {
      const id = elementAt(ids, index)
      places.set(id, places.has(id) ? -1 : index)
    }
    return places
  }
  const inB = once(b, startB, endB)
  return [...once(a, startA, endA)].flatMap(([id, index]) => {
    const other = inB.get(id) ?? -1
    return index >= 0 && other >= 0 ? [{ a: index, b: other }] : []
  })
}

/** Returns the longest subsequence that increases in both. */
function increasing(pairs: readonly Pair[]): readonly Pair[] {
  const tails: number[] = []
  const before = new Array<number>(pairs.length).fill(-1)
  for (const [index, { b }] of pairs.entries()) {
    const place = countWhile(tails.length, (index) => elementAt(pairs, elementAt(tails, index)).b < b)
    before[index] = tails[place - 1] ?? -1
    tails[place] = index
  }
  const found: Pair[] = []
  for (let index = tails.at(-1) ?? -1; index >= 0; index = elementAt(before, index)) found.push(elementAt(pairs, index))
  return found.reverse()
}

/** Returns the common beginning and end, in bytes, of two ranges without equal tokens, up to positions where tokens of both end. */
function sameBytes(
  a: Spelled,
  b: Spelled,
  [startA, endA]: readonly [number, number],
  [startB, endB]: readonly [number, number],
): readonly AlignedBlock[] {
  if (startA === endA || startB === endB) return []
  const [bytesA, bytesB] = [joinBytes(a, startA, endA), joinBytes(b, startB, endB)]
  let common = 0
  while (common < bytesA.bytes.length && bytesA.bytes[common] === bytesB.bytes[common]) common++
  const prefix = lastShared(bytesA.ends, bytesB.ends, common)
  const [restA, restB] = [startA + prefix[0], startB + prefix[1]]
  const blocks: AlignedBlock[] =
    prefix[0] > 0 || prefix[1] > 0 ? [{ kind: 'bytes', a: [startA, restA], b: [startB, restB] }] : []
  if (restA === endA || restB === endB) return blocks
  const [lengthA, lengthB] = [bytesA.bytes.length, bytesB.bytes.length]
  const room = Math.min(lengthA - (bytesA.ends[prefix[0] - 1] ?? 0), lengthB - (bytesB.ends[prefix[1] - 1] ?? 0))
  let tail = 0
  while (tail < room && bytesA.bytes[lengthA - 1 - tail] === bytesB.bytes[lengthB - 1 - tail]) tail++
  const fromEnd = (ends: readonly number[], length: number): number[] =>
    [0, ...ends.slice(0, -1)].map((start) => length - start).reverse()
  const suffix = lastShared(fromEnd(bytesA.ends, lengthA), fromEnd(bytesB.ends, lengthB), tail)
  if (suffix[0] > 0) blocks.push({ kind: 'bytes', a: [endA - suffix[0], endA], b: [endB - suffix[1], endB] })
  return blocks
}

function joinBytes(
  { ids, bytes }: Spelled,
  start: number,
  end: number,
): { readonly bytes: readonly number[]; readonly ends: readonly number[] } {
  const all: number[] = []
  const ends = ids.slice(start, end).map((id) => {
    for (const byte of bytes(id)) all.push(byte)
    return all.length
  })
  return { bytes: all, ends }
}

/** Returns how many tokens of each side end by the last position, at most `limit`, at which tokens of both end. */
function lastShared(a: readonly number[], b: readonly number[], limit: number): readonly [number, number] {
  let shared: readonly [number, number] = [0, 0]
  let other = 0
  for (const [index, end] of a.entries()) {
    if (end > limit) break
    while (other < b.length && elementAt(b, other) < end) other++
    if (b[other] === end) shared = [index + 1, other + 1]
  }
  return shared
}
