import { type As, sideText } from '#lib/compare/side.ts'

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
