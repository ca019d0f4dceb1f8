/** Places the nodes of a forest on rails: each path keeps its rail, and a fork begins another one. */

/** A node on a rail. Its row is its index. */
export interface RailPlace {
  /** Number of the rail, from the left. */
  readonly rail: number
  /** Row of the parent; undefined for a root. */
  readonly parent: number | undefined
}

/** Returns the places of nodes, which are in the order of their rows. `parents` are rows. Rails are used again where they have ended. */
export function placeOnRails(parents: readonly (number | undefined)[]): readonly RailPlace[] {
  const chains = chainsOf(parents)
  /** The last row of each rail. */
  const ends: number[] = []
  const rails = new Map<number, number>()
  for (const { rows } of chains) {
    const first = rows[0] ?? 0
    const start = parents[first] ?? first
    const free = ends.findIndex((end) => end < start)
    const rail = free < 0 ? ends.length : free
    ends[rail] = rows.at(-1) ?? first
    for (const row of rows) rails.set(row, rail)
  }
  return parents.map((parent, row) => ({ rail: rails.get(row) ?? 0, parent }))
}

/** Returns, for each row, the nodes whose rail leaves its parent in the row, passes the row, or ends in it. */
export function railsByRow(places: readonly RailPlace[]): readonly (readonly number[])[] {
  const rows = places.map((): number[] => [])
  for (const [node, { parent }] of places.entries())
    if (parent !== undefined) for (let row = parent; row <= node; row++) rows[row]?.push(node)
  return rows
}

/** Returns paths from a root or a fork on, each along the first continuation of its nodes. */
function chainsOf(parents: readonly (number | undefined)[]): readonly { readonly rows: readonly number[] }[] {
  const chains: { readonly rows: number[] }[] = []
  const chainAt = new Map<number, { readonly rows: number[] }>()
  for (const [row, parent] of parents.entries()) {
    const before = parent === undefined ? undefined : chainAt.get(parent)
    const chain = before && before.rows.at(-1) === parent ? before : { rows: [] }
    if (chain !== before) chains.push(chain)
    chain.rows.push(row)
    chainAt.set(row, chain)
  }
  return chains
}
