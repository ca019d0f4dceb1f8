/** Which token of one side is which of the other, and in which drift a token stands. */

import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { otherSide } from './rows.ts'

/** A token of one side, counted from its first. */
export interface Spot {
  readonly side: SideName
  readonly token: number
}

export interface Pairing {
  readonly stretches: readonly AlignedRun[]
  /** Of each drift the number of its stretch. */
  readonly driftStretches: Int32Array
}

export function pairingOf(stretches: readonly AlignedRun[]): Pairing {
  const drifts: number[] = []
  for (let number = 0; number < stretches.length; number++) if (stretches[number]?.kind === 'drift') drifts.push(number)
  return { stretches, driftStretches: Int32Array.from(drifts) }
}

/** The stretch of a drift by the drift's number. */
export const driftNumbered = ({ stretches, driftStretches }: Pairing, drift: number): AlignedRun | undefined =>
  stretches[driftStretches[drift] ?? -1]

/** Number of the stretch that holds a token. */
export const stretchOf = ({ stretches }: Pairing, { side, token }: Spot): number =>
  countWhile(stretches.length, (number) => elementAt(stretches, number)[side].start <= token) - 1

/** Number of the drift that holds a token; undefined: it is equal on both sides. */
export function driftOfToken(pairing: Pairing, spot: Spot): number | undefined {
  const stretch = stretchOf(pairing, spot)
  if (pairing.stretches[stretch]?.kind !== 'drift') return undefined
  return driftsBefore(pairing, stretch)
}

/** How many drifts stand before a stretch. */
export const driftsBefore = ({ driftStretches }: Pairing, stretch: number): number =>
  countWhile(driftStretches.length, (drift) => elementAt(driftStretches, drift) < stretch)

/**
 * The other side's token: the equal one; in drift one as far from its start; where the other side has nothing, the one
 * behind the gap, or before it at the end. Undefined: the other side has no tokens.
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
