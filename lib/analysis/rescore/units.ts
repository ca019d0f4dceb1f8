/**
 * Pairs what can be compared of two scored sides: single tokens where the ids agree, and whole spans where the same text has other
 * tokens. Tokens are never paired by index, because all positions after a span that was split differently are shifted.
 */
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { float64At, uint8At } from '#lib/util/element-at.ts'

/** Two aligned sides with the prefill logprobs of their tokens. */
export interface ScoredSides {
  readonly alignedRuns: readonly AlignedRun[]
  readonly left: ScoredSide
  readonly right: ScoredSide
}

interface ScoredSide {
  /** Prefill logprobs at temperature 1, one for each token; NaN is unknown. */
  readonly scores: Float64Array
  /** Loss mask, one entry for each token; 1 is trained. */
  readonly mask: Uint8Array
}

/**
 * Text of both sides that contains trained tokens, in order. There is one unit for each pair of tokens of the same id, and for each
 * span of the same text in other tokens, if the logprobs are known on both sides. As in the drift report, a token counts as trained
 * if the left side trains it.
 */
export interface RescoredUnits {
  readonly count: number
  readonly leftStarts: Int32Array
  readonly leftEnds: Int32Array
  readonly rightStarts: Int32Array
  readonly rightEnds: Int32Array
  /** Sums of logprobs over the unit’s tokens. */
  readonly leftLogprobs: Float64Array
  readonly rightLogprobs: Float64Array
  /** Right − left: the logarithm of the importance ratio. */
  readonly deltas: Float64Array
  /** Trained tokens of the left side. */
  readonly trained: Int32Array
  /** Number of the drift span, −1 for a pair of tokens. */
  readonly drifts: Int32Array
}

/** A drift span with the sums of its logprobs. */
interface RescoredSpan {
  readonly left: SpanSum
  readonly right: SpanSum
  /** Trained tokens of the left side. */
  readonly trained: number
  readonly ratio: SpanRatio
}

interface SpanSum {
  readonly tokens: number
  /** Sum of logprobs in nats; null if the logprob of a token is unknown, or there is no token. */
  readonly sum: number | null
  readonly mean: number | null
}

/** Ratio of a span as the difference of logprobs (right − left, in nats), or the reason why there is none. */
export type SpanRatio =
  | { readonly kind: 'known'; readonly delta: number }
  /**
   * other-text: the sides have different text here, so their probabilities are not comparable. one-side: the other side has no
   * tokens here. first-token: no server gives a logprob for the first token, because nothing is before it. not-scored: a logprob
   * is unknown.
   */
  | { readonly kind: 'none'; readonly why: 'other-text' | 'one-side' | 'first-token' | 'not-scored' }

/** Units and spans of two sides, and the trained tokens that are in no unit. */
export interface PairedUnits {
  readonly units: RescoredUnits
  /** One entry for each drift span of the comparison, in its order. */
  readonly spans: readonly RescoredSpan[]
  /** Trained tokens of the left side in text of both sides whose logprob is unknown on one side. */
  readonly unknown: number
  /** Trained tokens in text that the other side does not have. */
  readonly unpaired: { readonly left: number; readonly right: number }
}

/** Pairs the tokens and spans of two scored sides. */
export function pairUnits({ alignedRuns, left, right }: ScoredSides): PairedUnits {
  const columns = unitColumns(left.mask.reduce((sum, trained) => sum + trained, 0))
  const spans: RescoredSpan[] = []
  let unknown = 0
  const unpaired = { left: 0, right: 0 }
  for (const alignedRun of alignedRuns) {
    if (alignedRun.kind === 'equal') {
      for (let offset = 0; offset < alignedRun.left.end - alignedRun.left.start; offset++) {
        const [at, other] = [alignedRun.left.start + offset, alignedRun.right.start + offset]
        if (left.mask[at] !== 1) continue
        const [ours, theirs] = [float64At(left.scores, at), float64At(right.scores, other)]
        if (Number.isFinite(theirs - ours))
          columns.add({ start: at, end: at + 1 }, { start: other, end: other + 1 }, ours, theirs, 1, -1)
        else unknown++
      }
      continue
    }
    const span = rescoredSpan(alignedRun, left, right)
    if (span.ratio.kind === 'known' && span.trained > 0)
      columns.add(
        alignedRun.left,
        alignedRun.right,
        span.left.sum as number,
        span.right.sum as number,
        span.trained,
        spans.length,
      )
    else if (span.ratio.kind === 'none') {
      if (span.ratio.why === 'other-text' || span.ratio.why === 'one-side') {
        unpaired.left += span.trained
        unpaired.right += trainedIn(right, alignedRun.right)
      } else unknown += span.trained
    }
    spans.push(span)
  }
  return { units: columns.units(), spans, unknown, unpaired }
}

function rescoredSpan(
  alignedRun: Extract<AlignedRun, { kind: 'drift' }>,
  left: ScoredSide,
  right: ScoredSide,
): RescoredSpan {
  const [ours, theirs] = [spanSum(left, alignedRun.left), spanSum(right, alignedRun.right)]
  const ratio = (): SpanRatio => {
    if (ours.tokens === 0 || theirs.tokens === 0) return { kind: 'none', why: 'one-side' }
    if (!alignedRun.sameBytes) return { kind: 'none', why: 'other-text' }
    if (alignedRun.left.start === 0 || alignedRun.right.start === 0) return { kind: 'none', why: 'first-token' }
    if (ours.sum === null || theirs.sum === null) return { kind: 'none', why: 'not-scored' }
    return { kind: 'known', delta: theirs.sum - ours.sum }
  }
  return { left: ours, right: theirs, trained: trainedIn(left, alignedRun.left), ratio: ratio() }
}

function spanSum({ scores }: ScoredSide, { start, end }: Span): SpanSum {
  const tokens = end - start
  let sum = 0
  for (let index = start; index < end; index++) sum += float64At(scores, index)
  return tokens > 0 && Number.isFinite(sum) ? { tokens, sum, mean: sum / tokens } : { tokens, sum: null, mean: null }
}

function trainedIn({ mask }: ScoredSide, { start, end }: Span): number {
  let count = 0
  for (let index = start; index < end; index++) count += uint8At(mask, index)
  return count
}

/** Returns a writer of units. `most` is the largest possible number of units. */
function unitColumns(most: number) {
  const whole = () => new Int32Array(most)
  const real = () => new Float64Array(most)
  const [leftStarts, leftEnds, rightStarts, rightEnds, trained, drifts] = [
    whole(),
    whole(),
    whole(),
    whole(),
    whole(),
    whole(),
  ]
  const [leftLogprobs, rightLogprobs, deltas] = [real(), real(), real()]
  let count = 0
  return {
    add(left: Span, right: Span, ours: number, theirs: number, tokens: number, drift: number): void {
      leftStarts[count] = left.start
      leftEnds[count] = left.end
      rightStarts[count] = right.start
      rightEnds[count] = right.end
      leftLogprobs[count] = ours
      rightLogprobs[count] = theirs
      deltas[count] = theirs - ours
      trained[count] = tokens
      drifts[count] = drift
      count++
    },
    units: (): RescoredUnits => ({
      count,
      leftStarts: leftStarts.subarray(0, count),
      leftEnds: leftEnds.subarray(0, count),
      rightStarts: rightStarts.subarray(0, count),
      rightEnds: rightEnds.subarray(0, count),
      leftLogprobs: leftLogprobs.subarray(0, count),
      rightLogprobs: rightLogprobs.subarray(0, count),
      deltas: deltas.subarray(0, count),
      trained: trained.subarray(0, count),
      drifts: drifts.subarray(0, count),
    }),
  }
}
