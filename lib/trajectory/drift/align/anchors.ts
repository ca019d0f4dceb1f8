/**
 * Anchors: runs of equal numbers that occur equally often on both sides, so that two sequences can be aligned at them.
 */
import { countWhile } from '#lib/util/bisect.ts'
import type { Box } from './box.ts'

/** Positions on both sides, as two columns. */
export interface AnchorPositions {
  readonly lefts: Int32Array
  readonly rights: Int32Array
}

/** Runs that occur more often on a side are ambiguous and not used. */
const MOST_TWINS = 16
/** From this length on, only every eighth run is considered; the hash selects the same runs on both sides. */
const MANY = 1 << 14

/**
 * Returns the starts of as many runs of `length` numbers as can be paired in rising order on both sides. The nth
 * occurrence on one side is paired with the nth on the other. Runs are compared by hash, so the caller must compare the
 * numbers. Time is linear, except for the n log n of the rising sequence.
 */
export function anchors(left: Int32Array, right: Int32Array, box: Box, length: number): AnchorPositions {
  const { left: l, right: r } = box
  const count = l.end - l.start + r.end - r.start
  const mask = count > MANY ? 7 : 0
  const ours = rowHashes(left, l.start, l.end, length, mask)
  const theirs = rowHashes(right, r.start, r.end, length, mask)
  const groupOf = groupsByHash(ours)
  const most = ours.hashes.length
  const groups = new Int32Array(most)
  const twins = { left: new Int32Array(most), right: new Int32Array(most) }
  for (let row = 0; row < most; row++) {
    const group = groupOf(ours.hashes[row] as number)
    groups[row] = group
    twins.left[group] = (twins.left[group] as number) + 1
  }
  // Runs of the right side as linked lists, one for each group of the left side.
  const first = new Int32Array(most)
  const last = new Int32Array(most)
  const behind = new Int32Array(theirs.hashes.length)
  for (let row = 0; row < behind.length; row++) {
    const group = groupOf(theirs.hashes[row] as number)
    if (group === -1) continue
    const seen = twins.right[group] as number
    if (seen === 0) first[group] = row
    else behind[last[group] as number] = row
    last[group] = row
    twins.right[group] = seen + 1
  }
  const lefts = new Int32Array(most)
  const rights = new Int32Array(most)
  let pairs = 0
  for (let row = 0; row < most; row++) {
    const group = groups[row] as number
    if (twins.left[group] !== twins.right[group] || (twins.left[group] as number) > MOST_TWINS) continue
    const other = first[group] as number
    first[group] = behind[other] as number
    lefts[pairs] = ours.starts[row] as number
    rights[pairs++] = theirs.starts[other] as number
  }
  return rising({ lefts: lefts.subarray(0, pairs), rights: rights.subarray(0, pairs) })
}

interface Rows {
  readonly hashes: Int32Array
  readonly starts: Int32Array
}

const FACTOR = 0x01000193
const MIX = 0x9e3779b1

function rowHashes(numbers: Int32Array, start: number, end: number, length: number, mask: number): Rows {
  const most = Math.max(0, end - start - length + 1)
  const hashes = new Int32Array(most)
  const starts = new Int32Array(most)
  let oldest = 1
  for (let power = 0; power < length; power++) oldest = Math.imul(oldest, FACTOR)
  let count = 0
  let rolling = 0
  for (let at = start; at < end; at++) {
    rolling = (Math.imul(rolling, FACTOR) + mixBits(numbers[at] as number)) | 0
    const leaving = at - length
    if (leaving >= start) rolling = (rolling - Math.imul(oldest, mixBits(numbers[leaving] as number))) | 0
    if (leaving < start - 1) continue
    const hash = mixBits(rolling)
    if (((hash >>> 28) & mask) !== 0) continue
    hashes[count] = hash
    starts[count++] = leaving + 1
  }
  return { hashes: hashes.subarray(0, count), starts: starts.subarray(0, count) }
}

const mixBits = (number: number): number => {
  const once = Math.imul(number ^ (number >>> 15), MIX)
  return once ^ (once >>> 13)
}

/** Returns the group of a hash: the index of the first run with that hash, or −1. */
function groupsByHash({ hashes }: Rows): (hash: number) => number {
  const capacity = 2 ** Math.ceil(Math.log2(2 * hashes.length + 2))
  const rows = new Int32Array(capacity).fill(-1)
  const slotOf = (hash: number): number => {
    let slot = hash & (capacity - 1)
    while (rows[slot] !== -1 && hashes[rows[slot] as number] !== hash) slot = (slot + 1) & (capacity - 1)
    return slot
  }
  for (let row = 0; row < hashes.length; row++) {
    const slot = slotOf(hashes[row] as number)
    if (rows[slot] === -1) rows[slot] = row
  }
  return (hash) => rows[slotOf(hash)] as number
}

/** Returns the longest selection of pairs whose rights rise too; pairs are in the order of their lefts. */
function rising({ lefts, rights }: AnchorPositions): AnchorPositions {
  /** ends[n] is the smallest right that ends a rising list of length n + 1. */
  const ends = new Int32Array(rights.length)
  const before = new Int32Array(rights.length)
  let longest = 0
  for (let pair = 0; pair < rights.length; pair++) {
    const right = rights[pair] as number
    const isBelow = (at: number) => (rights[ends[at] as number] as number) < right
    const length = longest === 0 || isBelow(longest - 1) ? longest : countWhile(longest, isBelow)
    before[pair] = length === 0 ? -1 : (ends[length - 1] as number)
    ends[length] = pair
    longest = Math.max(longest, length + 1)
  }
  const found = { lefts: new Int32Array(longest), rights: new Int32Array(longest) }
  for (let at = longest - 1, pair = ends[at] as number; at >= 0; pair = before[pair] as number, at--) {
    found.lefts[at] = lefts[pair] as number
    found.rights[at] = rights[pair] as number
  }
  return found
}
