import type { Tree } from '#lib/api/forest/tree.ts'

type Leaf = Tree['leaves'][number]

/** A trajectory of a tree, and the number of forks between it and the first one. */
export interface TreeRow {
  readonly leaf: Leaf
  readonly depth: number
}

/** Returns the trajectories with each one followed by its forks, in the order of their positions. */
export function treeRows(leaves: readonly Leaf[]): readonly TreeRow[] {
  const forksOf = (from: number | null): number[] =>
    leaves
      .flatMap(({ fork }, index) => ((fork?.from ?? null) === from && index !== from ? [index] : []))
      .sort((a, b) => (leaves[a]?.fork?.token ?? 0) - (leaves[b]?.fork?.token ?? 0))
  const rows: TreeRow[] = []
  const seen = new Set<number>()
  const visit = (index: number, depth: number): void => {
    const leaf = leaves[index]
    if (!leaf || seen.has(index)) return
    seen.add(index)
    rows.push({ leaf, depth })
    for (const fork of forksOf(index)) visit(fork, depth + 1)
  }
  for (const index of forksOf(null)) visit(index, 0)
  // Files that name each other as their origin have no first one.
  for (const index of leaves.keys()) visit(index, 0)
  return rows
}
