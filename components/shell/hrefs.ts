/** Addresses of pages that other pages link to. */
import { type Reconstruction, sideText } from '#lib/analysis/compare/side.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns the address that compares a trajectory with what a pipeline that keeps its text or its messages would produce. */
export function compareHref(key: string, mode: 'text' | 'messages'): string {
  const left = sideText({ key, as: { kind: 'recorded' } })
  const right = mode === 'text' ? { right: sideText({ key, as: { kind: 'text' } }) } : {}
  return `/compare?${new URLSearchParams({ left, ...right })}`
}

/** Returns the address that compares a trajectory with a reconstruction of it, at a drift span if one is given. */
export function compareReconstructionHref(key: string, as: Reconstruction, drift: number | undefined): string {
  const sides = { left: sideText({ key, as: { kind: 'recorded' } }), right: sideText({ key, as }) }
  return `/compare?${new URLSearchParams({ ...sides, ...(drift !== undefined && { drift: String(drift) }) })}`
}

/** Returns the address that compares two trajectories as they were recorded. */
export const compareBothHref = (left: string, right: string): string =>
  `/compare?${new URLSearchParams({
    left: sideText({ key: left, as: { kind: 'recorded' } }),
    right: sideText({ key: right, as: { kind: 'recorded' } }),
  })}`

/** Largest number of keys in an address: servers refuse much longer ones. */
export const MOST_IN_ADDRESS = 200

/** Returns the address of the drift report of some trajectories. */
export const reportOfKeysHref = (keys: readonly string[]): string => `/compare/corpus?${keysQuery(keys)}`

/** Returns the address of a group of samples as a tree. */
export const groupTreeHref = (groupId: string): string => `/group/${encodeURIComponent(groupId)}`

/** Returns the address of selected trajectories as a tree. */
export const treeOfKeysHref = (keys: readonly string[]): string => `/group?${keysQuery(keys)}`

/** Returns the query of an address that names trajectories by their keys. */
const keysQuery = (keys: readonly string[]): URLSearchParams =>
  new URLSearchParams({ keys: keys.map((key) => key.replaceAll(',', '%2C')).join(',') })

/** Returns the address of the drift report of a filtered library; `filter` is as in the library's address. */
export const reportOfLibraryHref = (filter: Readonly<Record<string, string>>): string =>
  `/compare/corpus?${new URLSearchParams({ library: 'true', ...filter })}`

/**
 * Returns the address of a trajectory. `list` is the query of the list that Previous and Next walk through; if omitted, they
 * use its group or the library.
 */
export const inspectorHref = (key: string, list?: string): string =>
  `/t/${encodeURIComponent(key)}${list === undefined ? '' : `?${new URLSearchParams({ list })}`}`

/** Returns the address of a trajectory with a token selected. */
export const tokenHref = (key: string, token: number): string => `${inspectorHref(key)}?at=${token}`

/** Returns the address at which the playground continues a trajectory; undefined if its tokenizer or chat template is unknown. */
export const continueHref = (storedKey: string | undefined, { model }: TrajectoryView): string | undefined =>
  storedKey !== undefined && model.tokenizer && model.template ? `/?t=${encodeURIComponent(storedKey)}` : undefined
