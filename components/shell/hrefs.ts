/** Addresses of pages that other pages link to. */
import { type As, sideText } from '#lib/analysis/compare/side.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Where a trajectory stands beside what a pipeline would have that keeps its text, or its messages as far as it has them. */
export function compareHref(key: string, kept: 'text' | 'messages'): string {
  const left = sideText({ key, as: { kind: 'recorded' } })
  const right = kept === 'text' ? { right: sideText({ key, as: { kind: 'text' } }) } : {}
  return `/compare?${new URLSearchParams({ left, ...right })}`
}

/** A trajectory beside itself made again, at a drift span, where one is named. */
export function compareMadeHref(key: string, as: As, drift: number | undefined): string {
  const sides = { left: sideText({ key, as: { kind: 'recorded' } }), right: sideText({ key, as }) }
  return `/compare?${new URLSearchParams({ ...sides, ...(drift !== undefined && { drift: String(drift) }) })}`
}

/** Two trajectories as they were recorded. */
export const compareBothHref = (left: string, right: string): string =>
  `/compare?${new URLSearchParams({
    left: sideText({ key: left, as: { kind: 'recorded' } }),
    right: sideText({ key: right, as: { kind: 'recorded' } }),
  })}`

/** Keys that an address holds: servers refuse those that are much longer. */
export const MOST_IN_ADDRESS = 200

export const reportOfKeysHref = (keys: readonly string[]): string =>
  `/compare/corpus?${new URLSearchParams({ keys: keys.map((key) => key.replaceAll(',', '%2C')).join(',') })}`

/** `filter`: as the library's address has it. */
export const reportOfLibraryHref = (filter: Readonly<Record<string, string>>): string =>
  `/compare/corpus?${new URLSearchParams({ library: 'true', ...filter })}`

/** `list`: the query of the list that it was found in, which previous and next walk through. Omitted: its group, or the library. */
export const inspectorHref = (key: string, list?: string): string =>
  `/t/${encodeURIComponent(key)}${list === undefined ? '' : `?${new URLSearchParams({ list })}`}`

/** Where the playground continues a trajectory; undefined: it cannot, because the tokenizer or the chat template is not known. */
export const continueHref = (storedKey: string | undefined, { model }: TrajectoryView): string | undefined =>
  storedKey !== undefined && model.tokenizer && model.template ? `/?t=${encodeURIComponent(storedKey)}` : undefined
