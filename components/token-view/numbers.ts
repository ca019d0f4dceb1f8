/** Numbers as the page writes them: a minus sign, thin groups, no false precision; and how much of a long text there is. */

const count = new Intl.NumberFormat('en')

export const countText = (value: number): string => count.format(value)

/** A logprob or another small number, three decimals; — where it is unknown. */
export function decimalText(value: number | null, digits = 3): string {
  if (value === null) return '—'
  const isTiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits
  return (isTiny ? value.toExponential(1) : value.toFixed(digits)).replaceAll('-', '−')
}

/** A reward without trailing zeros, at most three decimals (two digits if it is smaller); — where it is unknown. */
export function rewardText(reward: number | null): string {
  if (reward === null) return '—'
  const isTiny = Math.abs(reward) < 0.0005
  return String(Number(isTiny ? reward.toPrecision(2) : reward.toFixed(3))).replaceAll('-', '−')
}

export function percentText(share: number): string {
  const percent = 100 * share
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  if (percent < 100 && percent > 99.9) return '> 99.9 %'
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)} %`
}

export function durationText(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

export const clipped = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}… (${countText(text.length)} characters)` : text
