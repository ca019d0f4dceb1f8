/** Where two samples of a group differ, from the nodes of its trees. */
import type { GroupForest } from '#lib/api/forest/group-forest.ts'

/**
 * Returns the index of the first token that differs between two samples: their number of tokens if they are the same, and that of the
 * shorter one if the other continues it. Undefined if one of them is not in the tree.
 */
export function divergenceOf(
  { samples, nodes }: Pick<GroupForest, 'samples' | 'nodes'>,
  left: number,
  right: number,
): number | undefined {
  let [a, b] = [samples[left]?.leaf ?? null, samples[right]?.leaf ?? null]
  if (a === null || b === null) return undefined
  // A node has a greater index than its parent, so the greater one of two different nodes is not shared.
  while (a !== b) {
    if (b === null || (a !== null && a > b)) a = nodes[a as number]?.parent ?? null
    else b = nodes[b]?.parent ?? null
  }
  return a === null ? 0 : nodes[a]?.end
}
