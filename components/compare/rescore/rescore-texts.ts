/** Numbers and texts of rescoring for the panel. */

import { decimalText } from '#components/token-view/numbers.ts'
import { ratioOf } from '#lib/analysis/rescore/rescoring.ts'
import type { SpanRatio } from '#lib/analysis/rescore/units.ts'

/** Formats the ratio exp(delta); ratios far from 1 are powers, because e^−77 is easier to compare than 2.1e-34. */
export function ratioTextOfDelta(delta: number): string {
  const ratio = ratioOf(delta)
  if (ratio >= 0.001 && ratio < 1000) return ratio.toFixed(ratio < 10 ? 3 : 1)
  return `e^${decimalText(delta, 1)}`
}

/** Formats a difference with its sign, because the direction matters. */
export const deltaText = (delta: number): string => `${delta > 0 ? '+' : ''}${decimalText(delta)}`

/** Reasons why a drift span has no ratio. */
export const WHY_NO_RATIO: Readonly<Record<Extract<SpanRatio, { kind: 'none' }>['why'], string>> = {
  'other-text': 'different text: the probabilities cannot be compared',
  'one-side': 'one side has nothing here',
  'first-token': 'the first token has no preceding tokens, so it has no logprob',
  'not-scored': 'not scored',
}
