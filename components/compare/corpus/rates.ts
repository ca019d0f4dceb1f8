import { decimalText, percentText } from '#components/token-view/numbers.ts'

/** Formats a share from 0 to 1 as a percentage; a dash for null. */
export const shareText = (share: number | null): string => (share === null ? '—' : percentText(share))

/** Formats a rate with two decimals. */
export const rateText = (rate: number | null): string => decimalText(rate, 2)

/** Formats `part` of `whole` as a percentage; a dash if `whole` is 0. */
export const fractionText = (part: number, whole: number): string => shareText(whole === 0 ? null : part / whole)
