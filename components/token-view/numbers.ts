/** Numbers as text: a true minus sign, grouped digits, no false precision. Also texts shortened with their length. */

import { countText } from '#lib/util/text/count-with-noun.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'

export { countText }

/** Returns an index with the first and last one, such as `3 (0–4)`. Indices start at 0, so `4 of 5` would read as the one before the last. */
export const indexText = (index: number, length: number): string =>
  `${countText(index)} (0–${countText(Math.max(0, length - 1))})`

/** Returns a logprob or another small number with three decimals; — if it is unknown. */
export function decimalText(value: number | null, digits = 3): string {
  if (value === null) return '—'
  const isTiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits
  const text = isTiny ? value.toExponential(1) : isLarge(value) ? largeText(value) : value.toFixed(digits)
  return text.replaceAll('-', '−')
}

/** Returns whether a number has too many digits for a column. */
const isLarge = (value: number): boolean => Math.abs(value) >= 1e6

const largeText = (value: number): string => value.toExponential(2).replace('e+', 'e')

/**
 * Returns a reward without trailing zeros, with at most three decimals and six significant digits, so that it fits its column. A tiny or a
 * large one has fewer digits, such as `1.5e−5` and `−1.23e7`; — if it is unknown.
 */
export function rewardText(reward: number | null): string {
  if (reward === null) return '—'
  const size = Math.abs(reward)
  const written = size < 0.0005 ? reward.toPrecision(2) : size < 1000 ? reward.toFixed(3) : reward.toPrecision(6)
  return (isLarge(reward) ? largeText(reward) : String(Number(written))).replaceAll('-', '−')
}

/** Returns a mean reward with at most two decimals: few samples give no more. */
export const shortRewardText = (value: number): string => rewardText(Number(value.toFixed(2)))

/** Returns an interval of rewards with at most two decimals, such as `[0.34–0.88]`. */
export const intervalText = ({ low, high }: { readonly low: number; readonly high: number }): string =>
  `[${shortRewardText(low)}–${shortRewardText(high)}]`

/** Returns a fraction of 1 as a percentage with at most one decimal. Values that would round to 0 % or 100 % are written as bounds. */
export function percentText(share: number): string {
  const percent = 100 * share
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  if (percent < 100 && percent > 99.9) return '> 99.9 %'
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)} %`
}

/** Returns a duration in ms, s, or min and s. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** Returns the text, or its first `longest` characters and its full length. */
export const clipText = (text: string, longest: number): string =>
  text.length > longest ? `${beginningOf(text, longest)}… (${countText(text.length)} characters)` : text
