/**
 * A number in a text as people and models write it: thousands separators (1,234), fractions (3/4, \frac{3}{4}, 2 1/2),
 * percent (12%), exponents (3e8, 3 × 10^8). Time is linear in the text: no pattern has nested repetition.
 */

/** A number with the text that states it. */
export interface WrittenNumber {
  readonly text: string
  readonly value: number
  /** For 12%, which may mean 12 or 0.12, the value without the percent sign. */
  readonly percent?: number
}

/** Returns the last number of a text, or undefined if there is none. */
export function lastNumber(text: string): WrittenNumber | undefined {
  const match = [...withoutLatex(text).matchAll(NUMBER)].at(-1)
  if (!match) return undefined
  const { sign, whole, over, under, percent } = match.groups as unknown as NumberParts
  const divisor = under === undefined ? 1 : plain(under)
  const part = plain(over) / divisor
  // A division by zero is not a fraction: 7/0 is read as its last number.
  if (!Number.isFinite(part)) return { text: under ?? over, value: plain(under ?? over) }
  // 5 3/2 is not a mixed number: the last of the two counts.
  if (whole !== undefined && part >= 1) return { text: `${over}/${under}`, value: part }
  const value = (sign === undefined ? 1 : -1) * (whole === undefined ? part : plain(whole) + part)
  return percent ? { text: match[0], value: value / 100, percent: value } : { text: match[0], value }
}

/** Returns a text that is one number, as typed into a field, or undefined. A number that is too large is infinite. */
export function wholeNumberText(text: string): number | undefined {
  const trimmed = text.trim()
  const found = lastNumber(trimmed)
  return found?.text === withoutLatex(trimmed).trim().replace(/^\+/, '') ? found.value : undefined
}

/** Returns the content of the last closed \boxed{…}, or undefined if there is none. */
export function lastBoxed(text: string): string | undefined {
  const open: { readonly start: number; readonly isBoxed: boolean }[] = []
  let boxed: string | undefined
  for (const { 0: brace, index } of text.matchAll(/\\boxed\{|[{}]/g)) {
    if (brace !== '}') open.push({ start: index + brace.length, isBoxed: brace !== '{' })
    else {
      const { start, isBoxed } = open.pop() ?? {}
      if (isBoxed) boxed = text.slice(start, index)
    }
  }
  return boxed
}

const UNSIGNED = String.raw`(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?`
/** A minus (hyphen, U+2212 or en dash) after a digit, a letter or a bracket is an operator between two numbers. */
const NUMBER = new RegExp(
  String.raw`(?<sign>(?<![\w)\]}.])[-−–])?(?:(?<whole>\d{1,3}(?:,\d{3})+|\d+) {1,3}(?=\d+ ?\/ ?\d))?(?<over>${UNSIGNED})(?: ?\/ ?(?<under>[-−–]?(?:${UNSIGNED})))?(?<percent> ?%)?`,
  'gu',
)

interface NumberParts {
  readonly sign: string | undefined
  /** The whole part of 2 1/2. */
  readonly whole: string | undefined
  readonly over: string
  readonly under: string | undefined
  readonly percent: string | undefined
}

const plain = (digits: string): number => Number(digits.replaceAll(',', '').replace(/^[−–]/, '-'))

const TEXT = /\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|mbox|operatorname) ?\{([^{}]*)\}/g
const FRACTION = /(?<=(\d *)?)\\[cdt]?frac *(?:\{ *([^{}]*?) *\}|(\d)) *(?:\{ *([^{}]*?) *\}|(\d))/g
const POWER_OF_TEN = /(?:(?<=\d) ?(?:\\times|\\cdot|[×·*x]) ?|(?<![\w.,]))10 ?\^ ?(?:\{ *([-−–]?\d+) *\}|([-−–]?\d+))/g
/** The exponent of a unit or a variable: 5 m^2 is 5. */
const EXPONENT = /(?<=[a-z] ?)\^ ?(?:\{[^{}]*\}|[-−–]?\d+)/gi

const withoutLatex = (text: string): string =>
  text
    .replaceAll('{,}', ',')
    .replace(/\\[,!;]/g, '')
    .replaceAll('\\%', '%')
    .replace(TEXT, '$1 ')
    .replace(EXPONENT, '')
    .replace(POWER_OF_TEN, (...found) => {
      const [, braced, bare, at, all] = found as [string, string | undefined, string | undefined, number, string]
      return `${/\d/.test(all[at - 1] ?? '') ? '' : '1'}e${plain(braced ?? (bare as string))}`
    })
    .replace(FRACTION, (...found) => {
      const [, before, over, overDigit, under, underDigit] = found as (string | undefined)[]
      return `${before === undefined ? '' : ' '}${over ?? overDigit}/${under ?? underDigit}`
    })
