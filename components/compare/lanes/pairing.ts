/** Finds the token of the other side that corresponds to a token, and the drift span that contains a token. */

import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { otherSide } from './rows/rows.ts'

/** A token of one side, by its index from the start of the side. */
export interface Spot {
  readonly side: SideName
  readonly token: number
}

/** The aligned runs of two sides, with an index of the runs that are drift. */
export interface Pairing {
  readonly stretches: readonly AlignedRun[]
  /** Number of the aligned run of each drift span. */
  readonly driftStretches: Int32Array
}

/** Returns the pairing for aligned runs that cover both sides in order. */
export function pairingOf(stretches: readonly AlignedRun[]): Pairing {
  const drifts: number[] = []
  for (let number = 0; number < stretches.length; number++) if (stretches[number]?.kind === 'drift') drifts.push(number)
  return { stretches, driftStretches: Int32Array.from(drifts) }
}

/** Returns the aligned run of a drift span; undefined if there is no span with this number. */
export const runOfDrift = ({ stretches, driftStretches }: Pairing, drift: number): AlignedRun | undefined =>
  stretches[driftStretches[drift] ?? -1]

/** Returns the number of the aligned run that contains a token. */
export const stretchOf = ({ stretches }: Pairing, { side, token }: Spot): number =>
  countWhile(stretches.length, (number) => elementAt(stretches, number)[side].start <= token) - 1

/** Returns the number of the drift span that contains a token; undefined if the token is equal on both sides. */
export function driftOfToken(pairing: Pairing, spot: Spot): number | undefined {
  const stretch = stretchOf(pairing, spot)
  if (pairing.stretches[stretch]?.kind !== 'drift') return undefined
  return driftsBefore(pairing, stretch)
}

/** Returns how many drift spans come before an aligned run. */
export const driftsBefore = ({ driftStretches }: Pairing, stretch: number): number =>
  countWhile(driftStretches.length, (drift) => elementAt(driftStretches, drift) < stretch)

/**
 * Returns the corresponding token of the other side: the equal token, or in drift the token at the same distance from the
 * start. If the other side has a gap, the token after the gap, or before it at the end. Undefined: the other side is empty.
 */
export function matchOf(pairing: Pairing, spot: Spot): Spot | undefined {
  const stretch = pairing.stretches[stretchOf(pairing, spot)]
  const end = pairing.stretches.at(-1)
  if (!stretch || !end) return undefined
  const side = otherSide(spot.side)
  const { start, end: behind } = stretch[side]
  const offset = spot.token - stretch[spot.side].start
  const token = Math.min(start + offset, Math.max(start, behind - 1), end[side].end - 1)
  return token < 0 ? undefined : { side, token }
}
