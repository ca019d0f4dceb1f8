/** Parses intervals of numbers in typed notation: `<-3`, `>=1`, `0..1`, `100-200`. */

/** The numbers from `low` to `high`, inclusive, except `without`. */
export interface Interval {
  readonly low: number
  readonly high: number
  readonly without: number | undefined
}

/** A comparison operator in typed notation. */
export type ComparisonSign = '<' | '<=' | '>' | '>='

/** Parses `3`, `100-200` or `-3..-1`; undefined for other text. */
export function readRange(text: string): Interval | undefined {
  const [, from, to] = /^(.+)\.\.(.+)$/.exec(text) ?? /^(\d[\d.]*)-(\d[\d.]*)$/.exec(text) ?? [undefined, text, text]
  const [a, b] = [readNumber(from as string), readNumber(to as string)]
  if (a === undefined || b === undefined) return undefined
  return { low: Math.min(a, b), high: Math.max(a, b), without: undefined }
}

/** Returns the interval of a comparison, or undefined without a number. */
export function comparedWith(sign: ComparisonSign, value: number | undefined): Interval | undefined {
  if (value === undefined) return undefined
  const without = sign === '<' || sign === '>' ? value : undefined
  return sign === '<' || sign === '<='
    ? { low: Number.NEGATIVE_INFINITY, high: value, without }
    : { low: value, high: Number.POSITIVE_INFINITY, without }
}

/** Parses a number, also with a typographic minus sign. Undefined for other text. */
export function readNumber(text: string): number | undefined {
  const plain = text.replace('−', '-')
  return /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Number(plain) : undefined
}
