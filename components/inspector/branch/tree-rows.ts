import type { Tree } from '#lib/api/forest/tree.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { fromWordAt, isPairAt } from '#lib/util/text/excerpt.ts'

/** A trajectory of a tree: its row of the library, and where it was forked. */
export type TreeLeaf = Tree['leaves'][number]

/** A trajectory of a tree, and the number of forks between it and the first one. */
interface LeafRow {
  readonly kind: 'leaf'
  readonly leaf: TreeLeaf
  readonly depth: number
}

/** Several branches that one request sampled at the same position, with their own forks in `rows`. */
interface SamplesRow {
  readonly kind: 'samples'
  readonly leaves: readonly TreeLeaf[]
  readonly depth: number
  readonly rows: readonly TreeRow[]
}

/** A line in the list of branches. */
export type TreeRow = LeafRow | SamplesRow

/** Returns the trajectories with each one followed by its forks, in the order of their positions. */
export function treeRows(leaves: readonly TreeLeaf[]): readonly TreeRow[] {
  const forks = new Map<number | null, number[]>()
  for (const [index, { fork }] of leaves.entries()) {
    const from = fork?.from ?? null
    if (from !== index) forks.set(from, [...(forks.get(from) ?? []), index])
  }
  const seen = new Set<number>()
  const rowsOf = (indices: readonly number[], depth: number): TreeRow[] =>
    samplings(leaves, indices).flatMap((together): TreeRow[] => {
      const fresh = together.filter((index) => !seen.has(index))
      for (const index of fresh) seen.add(index)
      const rows = fresh.flatMap((index): TreeRow[] => [
        { kind: 'leaf', leaf: elementAt(leaves, index), depth },
        ...rowsOf(forks.get(index) ?? [], depth + 1),
      ])
      if (fresh.length < 2) return rows
      return [{ kind: 'samples', leaves: fresh.map((index) => elementAt(leaves, index)), depth, rows }]
    })
  return [
    ...rowsOf(forks.get(null) ?? [], 0),
    // Files that name each other as their origin have no first one.
    ...leaves.keys().flatMap((index) => (seen.has(index) ? [] : rowsOf([index], 0))),
  ]
}

/** Returns forks of one trajectory in the order of their positions; those that one request sampled are together. */
function samplings(leaves: readonly TreeLeaf[], indices: readonly number[]): readonly (readonly number[])[] {
  const tokenOf = (index: number) => leaves[index]?.fork?.token ?? 0
  const byRequest = new Map<string, number[]>()
  for (const index of indices.toSorted((a, b) => tokenOf(a) - tokenOf(b))) {
    const { row, fork } = elementAt(leaves, index)
    const key = fork && row.group ? `group ${row.group.id} ${fork.token}` : `leaf ${index}`
    byRequest.set(key, [...(byRequest.get(key) ?? []), index])
  }
  return [...byRequest.values()]
}

/** Returns the rows without those of value estimates, at any depth, and these. */
export function separateValueSamples(rows: readonly TreeRow[]): {
  readonly branches: readonly TreeRow[]
  readonly samples: readonly TreeRow[]
} {
  const isSample = (row: TreeRow) => (row.kind === 'leaf' ? row.leaf : row.leaves[0])?.isValueSample === true
  const samples: TreeRow[] = []
  const withoutSamples = (all: readonly TreeRow[]): readonly TreeRow[] =>
    all.flatMap((row): readonly TreeRow[] => {
      if (isSample(row)) {
        samples.push(row)
        return []
      }
      return [row.kind === 'leaf' ? row : { ...row, rows: withoutSamples(row.rows) }]
    })
  return { branches: withoutSamples(rows), samples }
}

/** Returns the rows with a trajectory whose texts contain every word of a search, in any case. `textOf` returns the texts of one. */
export function matchingRows(
  rows: readonly TreeRow[],
  search: string,
  textOf: (leaf: TreeLeaf) => string,
): readonly TreeRow[] {
  const words = wordsOf(search)
  const matches = (leaf: TreeLeaf) => {
    const text = textOf(leaf).toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const matching = (all: readonly TreeRow[]): TreeRow[] =>
    all.flatMap((row): TreeRow[] => {
      if (row.kind === 'leaf') return matches(row.leaf) ? [row] : []
      const inside = matching(row.rows)
      return inside.length > 0 ? [{ ...row, rows: inside }] : []
    })
  return matching(rows)
}

/** Returns the words of a search, in lower case. */
const wordsOf = (search: string): readonly string[] => search.toLowerCase().split(/\s+/).filter(Boolean)

/** Characters of a text before a found word. */
const CHARACTERS_BEFORE = 12

/**
 * Returns the part of a text that a search has found, from a little before it on: the whole search, or else its longest word. Undefined if
 * the text has none of its words.
 */
export function foundPiece(text: string, search: string): string | undefined {
  const place = [search.trim().toLowerCase(), ...wordsOf(search).toSorted((a, b) => b.length - a.length)]
    .filter((part) => part !== '')
    .map((part) => text.toLowerCase().indexOf(part))
    .find((found) => found >= 0)
  if (place === undefined) return undefined
  const start = place - CHARACTERS_BEFORE
  return start > 0 ? `…${text.slice(isPairAt(text, start - 1) ? start - 1 : start)}` : text
}

/**
 * Returns the part of each text from the word on in which it differs from all others, in the same order. Equal texts are returned from the
 * same word on; a text without others is unchanged.
 */
export function differentPieces(texts: readonly string[]): readonly string[] {
  // The text with the longest common beginning is a neighbour in the order of the UTF-16 units.
  const sorted = [...new Set(texts)].sort()
  const pieces = new Map(
    sorted.map((text, index) => {
      const neighbours = [sorted[index - 1], sorted[index + 1]].filter((other) => other !== undefined)
      return [text, fromWordAt(text, Math.max(0, ...neighbours.map((other) => commonText(text, other))))]
    }),
  )
  return texts.map((text) => pieces.get(text) ?? text)
}

/** Returns the trajectories of rows, also of folded ones. */
export const leavesIn = (rows: readonly TreeRow[]): readonly TreeLeaf[] =>
  rows.flatMap((row) => (row.kind === 'leaf' ? [row.leaf] : leavesIn(row.rows)))

/** Returns how many tokens a trajectory shares with the first one of its tree; undefined for the first one, or if it is unknown. */
export function sharedWithMain(leaves: readonly TreeLeaf[], key: string): number | undefined {
  let index = leaves.findIndex(({ row }) => row.key === key)
  let shared: number | undefined
  const seen = new Set<number>()
  while (index > 0 && !seen.has(index)) {
    seen.add(index)
    const { fork } = elementAt(leaves, index)
    if (!fork || fork.from === null) return undefined
    shared = Math.min(shared ?? fork.token, fork.token)
    index = fork.from
  }
  return index === 0 ? shared : undefined
}
