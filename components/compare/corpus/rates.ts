import { decimalText, percentText } from '#components/token-view/numbers.ts'

export const shareText = (share: number | null): string => (share === null ? '—' : percentText(share))

export const rateText = (rate: number | null): string => decimalText(rate, 2)

/** A part of a whole, which may be nothing. */
export const partText = (part: number, whole: number): string => shareText(whole === 0 ? null : part / whole)
