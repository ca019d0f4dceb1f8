/** Intervals of numbers as a person types them: `<-3`, `>=1`, `0..1`, `100-200`. */

/** Numbers from `low` to `high`, both of them too, and not `without`. */
export interface Interval {
  readonly low: number
  readonly high: number
  readonly without: number | undefined
}

export type ComparisonSign = '<' | '<=' | '>' | '>='

/** `3`, `100-200`, `-3..-1`. Undefined: this is no number and no range. */
export function readRange(text: string): Interval | undefined {
  const [, from, to] = /^(.+)\.\.(.+)$/.exec(text) ?? /^(\d[\d.]*)-(\d[\d.]*)$/.exec(text) ?? [undefined, text, text]
  const [a, b] = [readNumber(from as string), readNumber(to as string)]
  if (a === undefined || b === undefined) return undefined
  return { low: Math.min(a, b), high: Math.max(a, b), without: undefined }
}

/** Undefined: no number is compared with. */
export function comparedWith(sign: ComparisonSign, value: number | undefined): Interval | undefined {
  if (value === undefined) return undefined
  const without = sign === '<' || sign === '>' ? value : undefined
  return sign === '<' || sign === '<='
    ? { low: Number.NEGATIVE_INFINITY, high: value, without }
    : { low: value, high: Number.POSITIVE_INFINITY, without }
}

/** Also with the minus sign that the page writes. */
export function readNumber(text: string): number | undefined {
  const plain = text.replace('−', '-')
  return /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Number(plain) : undefined
}
