/** Finds the token of the other side that corresponds to a token, and the drift span that contains a token. */

import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import { otherSide } from './rows/rows.ts'

/** A token of one side, by its index from the start of the side. */
export interface Spot {
  readonly side: SideName
  readonly token: number
}

/** The aligned runs of two sides, with an index of the runs that are drift. */
export interface Pairing {
  readonly alignedRuns: readonly AlignedRun[]
  /** Number of the aligned run of each drift span. */
  readonly driftRuns: Int32Array
}

/** Returns the pairing for aligned runs that cover both sides in order. */
export function pairingOf(alignedRuns: readonly AlignedRun[]): Pairing {
  const drifts: number[] = []
  for (let number = 0; number < alignedRuns.length; number++)
    if (alignedRuns[number]?.kind === 'drift') drifts.push(number)
  return { alignedRuns, driftRuns: Int32Array.from(drifts) }
}

/** Returns the aligned run of a drift span; undefined if there is no span with this number. */
export const runOfDrift = ({ alignedRuns, driftRuns }: Pairing, drift: number): AlignedRun | undefined =>
  alignedRuns[driftRuns[drift] ?? -1]

/** Returns the number of the aligned run that contains a token. */
export const runNumberOf = ({ alignedRuns }: Pairing, { side, token }: Spot): number =>
  countWhile(alignedRuns.length, (number) => elementAt(alignedRuns, number)[side].start <= token) - 1

/** Returns the number of the drift span that contains a token; undefined if the token is equal on both sides. */
export function driftOfToken(pairing: Pairing, spot: Spot): number | undefined {
  const runNumber = runNumberOf(pairing, spot)
  if (pairing.alignedRuns[runNumber]?.kind !== 'drift') return undefined
  return driftsBefore(pairing, runNumber)
}

/** Returns how many drift spans come before an aligned run. */
export const driftsBefore = ({ driftRuns }: Pairing, runNumber: number): number =>
  countWhile(driftRuns.length, (drift) => int32At(driftRuns, drift) < runNumber)

/**
 * Returns the corresponding token of the other side: the equal token, or in drift the token at the same distance from the
 * start. If the other side has a gap, the token after the gap, or before it at the end. Undefined: the other side is empty.
 */
export function matchOf(pairing: Pairing, spot: Spot): Spot | undefined {
  const alignedRun = pairing.alignedRuns[runNumberOf(pairing, spot)]
  const end = pairing.alignedRuns.at(-1)
  if (!alignedRun || !end) return undefined
  const side = otherSide(spot.side)
  const { start, end: behind } = alignedRun[side]
  const offset = spot.token - alignedRun[spot.side].start
  const token = Math.min(start + offset, Math.max(start, behind - 1), end[side].end - 1)
  return token < 0 ? undefined : { side, token }
}
