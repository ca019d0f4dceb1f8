/**
 * Compares two servers that score the same ids: |Δ| along the positions, the noise floor of each server, and the first jump. A server that
 * scores the same ids twice differs from itself by kernels and batches alone, so smaller differences between servers say nothing.
 */
import type { ScoringResult } from '#lib/trajectory/scoring/gathered.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import { firstRise } from '../ratios/rise.ts'
import { type Spread, spreadOf } from '../spread.ts'
import type { SideScores } from './rescoring.ts'
import type { ScoresOfBoth } from './score-both.ts'

/** Scores of both sides, computed twice by the same servers. */
export interface RepeatedScores {
  readonly first: SideScores
  readonly second: SideScores
  readonly scored: { readonly first: ScoresOfBoth; readonly second: ScoresOfBoth }
}

interface Pass {
  readonly scores: SideScores
  readonly scored: ScoresOfBoth
}

/** Joins two passes over the same ids. */
export const repeatedScores = (first: Pass, second: Pass): RepeatedScores => ({
  first: first.scores,
  second: second.scores,
  scored: { first: first.scored, second: second.scored },
})

/** How far a server differs from itself, or why that is unknown. */
export type ServerNoise =
  | { readonly kind: 'measured'; readonly spread: Spread }
  | { readonly kind: 'unknown'; readonly why: string }

/** The difference between two servers over the same ids. */
export interface ServerDifference {
  /** Indices of the tokens with scores of both servers, ascending. */
  readonly tokens: Int32Array
  /** Right − left for each of these tokens, in nats. */
  readonly deltas: Float64Array
  /** Statistics of |Δ|. */
  readonly spread: Spread
  /** Noise of each server; undefined if the ids were scored once. */
  readonly noise: { readonly left: ServerNoise; readonly right: ServerNoise } | undefined
  /** The larger 99th percentile of the noise of both servers, in nats. Undefined: the noise of a server is unknown. */
  readonly floor: number | undefined
  /** Number of tokens whose |Δ| is above the floor; undefined without a floor. */
  readonly above: number | undefined
  /** Undefined if there is none. */
  readonly jump: FirstJump | undefined
}

/** The first place where the scores of two servers move apart, above the noise floor. */
export type FirstJump =
  /** From the token on, the mean |Δ| is larger. */
  | { readonly kind: 'level'; readonly token: number; readonly before: number; readonly after: number }
  /** The first token whose probability at least doubles or halves; the level does not change. */
  | { readonly kind: 'token'; readonly token: number; readonly delta: number }

/** Returns the difference of two servers; undefined if no token has scores of both. `repeated` has the second pass of both servers. */
export function serverDifference(
  { left, right }: SideScores,
  repeated: RepeatedScores | undefined,
): ServerDifference | undefined {
  const known = knownDifferences(left, right)
  const spread = spreadOf(known.deltas.map(Math.abs).sort())
  if (!spread) return undefined
  const noise = repeated && { left: noiseOf(repeated, 'left'), right: noiseOf(repeated, 'right') }
  const floor =
    noise?.left.kind === 'measured' && noise.right.kind === 'measured'
      ? Math.max(noise.left.spread.p99, noise.right.spread.p99)
      : undefined
  const above =
    floor === undefined ? undefined : known.deltas.reduce((count, delta) => count + Number(Math.abs(delta) > floor), 0)
  return { ...known, spread, noise, floor, above, jump: firstJump(known, floor ?? 0) }
}

/** Returns the tokens that are known on both sides, with their differences: second − first. */
function knownDifferences(first: Float64Array, second: Float64Array) {
  const length = Math.min(first.length, second.length)
  const tokens = new Int32Array(length)
  const deltas = new Float64Array(length)
  let count = 0
  for (let token = 0; token < length; token++) {
    const delta = float64At(second, token) - float64At(first, token)
    if (!Number.isFinite(delta)) continue
    tokens[count] = token
    deltas[count++] = delta
  }
  return { tokens: tokens.slice(0, count), deltas: deltas.slice(0, count) }
}

function noiseOf({ first, second, scored }: RepeatedScores, side: 'left' | 'right'): ServerNoise {
  const [before, after] = [versionsOf(scored.first[side]), versionsOf(scored.second[side])]
  if (before !== after) return { kind: 'unknown', why: `its weights changed between both passes: ${before} → ${after}` }
  const spread = spreadOf(knownDifferences(first[side], second[side]).deltas.map(Math.abs).sort())
  return spread ? { kind: 'measured', spread } : { kind: 'unknown', why: 'no token has a score of both passes' }
}

const versionsOf = (gathered: ScoringResult | undefined): string => gathered?.versions.join(', ') ?? ''

/** Smallest |Δ| of a single token that counts as a jump: its probability doubles or halves. */
const LEAST_JUMP = Math.LN2

function firstJump(
  { tokens, deltas }: Pick<ServerDifference, 'tokens' | 'deltas'>,
  floor: number,
): FirstJump | undefined {
  // Differences within the noise are no differences.
  const magnitudes = deltas.map((delta) => (Math.abs(delta) > floor ? Math.abs(delta) : 0))
  const rise = firstRise(magnitudes)
  if (rise) {
    const { index, before, after } = rise
    return { kind: 'level', token: int32At(tokens, index), before, after }
  }
  const index = magnitudes.findIndex((magnitude) => magnitude >= LEAST_JUMP)
  return index < 0 ? undefined : { kind: 'token', token: int32At(tokens, index), delta: float64At(deltas, index) }
}

/** A part of the positions, with the token that differs most in it. */
export interface PositionBin {
  /** Half-open range of token indices. */
  readonly start: number
  readonly end: number
  /** Undefined if no token of the range has a difference. */
  readonly largest: { readonly token: number; readonly delta: number } | undefined
}

/** Divides `length` positions into at most `most` ranges of nearly equal size, for a chart that loses no large difference. */
export function positionBins(
  { tokens, deltas }: Pick<ServerDifference, 'tokens' | 'deltas'>,
  length: number,
  most: number,
): readonly PositionBin[] {
  const count = Math.min(most, length)
  const starts = Array.from({ length: count + 1 }, (_, bin) => Math.floor((bin * length) / count))
  let place = 0
  return starts.slice(0, count).map((start, bin) => {
    const end = elementAt(starts, bin + 1)
    let largest: PositionBin['largest']
    for (; place < tokens.length && int32At(tokens, place) < end; place++) {
      const delta = float64At(deltas, place)
      if (!largest || Math.abs(delta) > Math.abs(largest.delta)) largest = { token: int32At(tokens, place), delta }
    }
    return { start, end, largest }
  })
}
