import { elementAt } from '#lib/util/element-at.ts'

/**
 * Parses regular expressions as grammars use them: they match a whole text, so greedy and lazy are the same. Characters are code points,
 * also in classes; `.` is any of them.
 */

/** The syntax tree of an expression. */
export type RegexExpression =
  | { readonly kind: 'characters'; readonly ranges: readonly CodePointRange[] }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexExpression[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexExpression[] }
  | { readonly kind: 'repeat'; readonly of: RegexExpression; readonly least: number; readonly most: number }

/** A range of code points that includes both ends. */
export type CodePointRange = readonly [first: number, last: number]

const LAST_POINT = 0x10ffff
const MOST_REPEATS = 1000
const MOST_CHARACTERS = 100_000

/** Returns the parsed expression. Throws SyntaxError with the reason and the position. */
export function parseRegex(source: string): RegexExpression {
  if (source.length > MOST_CHARACTERS)
    throw new SyntaxError(`Invalid regex: it is longer than ${MOST_CHARACTERS} characters.`)
  const points = Array.from(source)
  let at = 0

  const fail = (why: string): never => {
    throw new SyntaxError(`Invalid regex at index ${at}: ${why}.`)
  }
  const skip = (text: string): boolean => {
    if (
      !points
        .slice(at, at + text.length)
        .join('')
        .startsWith(text)
    )
      return false
    at += text.length
    return true
  }

  const alternation = (): RegexExpression => {
    const options = [concatenation()]
    while (skip('|')) options.push(concatenation())
    return options.length === 1 ? elementAt(options, 0) : { kind: 'choice', options }
  }

  const concatenation = (): RegexExpression => {
    const parts: RegexExpression[] = []
    while (at < points.length && points[at] !== ')' && points[at] !== '|') {
      if (points[at] === '$' && at === points.length - 1) break
      parts.push(quantified())
    }
    return { kind: 'sequence', parts }
  }

  const quantified = (): RegexExpression => {
    const of = atom()
    const bounds = quantifier()
    if (!bounds) return of
    const [least, most] = bounds
    skip('?')
    if (points[at] === '+') fail('possessive quantifiers are unsupported')
    return { kind: 'repeat', of, least, most }
  }

  const quantifier = (): readonly [least: number, most: number] | undefined => {
    if (skip('*')) return [0, Number.POSITIVE_INFINITY]
    if (skip('+')) return [1, Number.POSITIVE_INFINITY]
    if (skip('?')) return [0, 1]
    if (!skip('{')) return undefined
    const least = decimal()
    const most = !skip(',') ? least : points[at] === '}' ? Number.POSITIVE_INFINITY : decimal()
    if (!skip('}')) fail('unterminated repetition')
    if (least > MOST_REPEATS || most < least || (most !== Number.POSITIVE_INFINITY && most > MOST_REPEATS))
      fail('invalid or excessive repetition')
    return [least, most]
  }

  const decimal = (): number => {
    const start = at
    while (/^\d$/.test(points[at] ?? '')) at++
    return start === at ? fail('expected a repetition count') : Number(points.slice(start, at).join(''))
  }

  const atom = (): RegexExpression => {
    const point = points[at] ?? fail('expected an expression')
    if (point === '(') return group()
    if (point === '[') return { kind: 'characters', ranges: characterClass() }
    if (point === '.') {
      at++
      return { kind: 'characters', ranges: [[0, LAST_POINT]] }
    }
    if (point === '\\') return { kind: 'characters', ranges: escaped(false) }
    if ('*+?{})'.includes(point)) fail(`unexpected ${JSON.stringify(point)}`)
    at++
    return { kind: 'characters', ranges: only(point.codePointAt(0) as number) }
  }

  const group = (): RegexExpression => {
    at++
    if (!skip('?:') && points[at] === '?') fail('only non-capturing special groups are supported')
    const inside = alternation()
    if (!skip(')')) fail('unterminated group')
    return inside
  }

  const characterClass = (): readonly CodePointRange[] => {
    at++
    const isNegated = skip('^')
    const ranges: CodePointRange[] = []
    const start = at
    while (points[at] !== ']') {
      const first = member()
      if (points[at] === '-' && points[at + 1] !== undefined && points[at + 1] !== ']') {
        at++
        ranges.push([single(first), single(member())])
        const [low, high] = ranges.at(-1) as CodePointRange
        if (low > high) fail('invalid character class range')
      } else ranges.push(...first)
    }
    if (start === at) fail('empty character class')
    at++
    return isNegated ? complement(ranges) : ranges
  }

  const member = (): readonly CodePointRange[] => {
    const point = points[at] ?? fail('unterminated character class')
    if (point === '\\') return escaped(true)
    at++
    return only(point.codePointAt(0) as number)
  }

  const single = ([range]: readonly CodePointRange[]): number =>
    range && range[0] === range[1] ? range[0] : fail('invalid character class range')

  const escaped = (inClass: boolean): readonly CodePointRange[] => {
    at++
    const code = points[at] ?? fail('trailing escape')
    at++
    const shorthand = SHORTHANDS[code.toLowerCase()]
    if (shorthand) return code === code.toLowerCase() ? shorthand : complement(shorthand)
    if (/^[1-9bBkpP]$/.test(code) && !(inClass && code === 'b')) {
      at--
      fail(`\\${code} is unsupported`)
    }
    if (code === 'x') return only(hexadecimal(2))
    if (code === 'u') return only(skip('{') ? braced() : pair(hexadecimal(4)))
    return only(CONTROLS[code] ?? (code.codePointAt(0) as number))
  }

  /** Returns the code point of a surrogate pair: a character above U+FFFF may be written as its two halves. */
  const pair = (high: number): number => {
    if (high < 0xd800 || high > 0xdbff || !skip('\\u')) return high
    return 0x10000 + ((high - 0xd800) << 10) + (hexadecimal(4) - 0xdc00)
  }

  const braced = (): number => {
    const end = points.indexOf('}', at)
    const value = hexadecimal(Math.max(1, end - at))
    at++
    return value <= LAST_POINT ? value : fail('invalid hexadecimal escape')
  }

  const hexadecimal = (length: number): number => {
    const digits = points.slice(at, at + length).join('')
    if (!new RegExp(`^[\\da-f]{${length}}$`, 'i').test(digits)) fail('invalid hexadecimal escape')
    at += length
    return Number.parseInt(digits, 16)
  }

  skip('^')
  const expression = alternation()
  skip('$')
  return at === points.length ? expression : fail(`unexpected ${JSON.stringify(points[at])}`)
}

const only = (point: number): readonly CodePointRange[] => [[point, point]]

const range = (first: string, last: string): CodePointRange => [first.charCodeAt(0), last.charCodeAt(0)]

/** Classes of ASCII characters, as in Python with re.ASCII and in SGLang's grammars. */
const SHORTHANDS: Readonly<Record<string, readonly CodePointRange[]>> = {
  d: [range('0', '9')],
  w: [range('0', '9'), range('A', 'Z'), range('_', '_'), range('a', 'z')],
  s: [range('\t', '\r'), range(' ', ' ')],
}

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, b: 8, 0: 0 }

function complement(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  const rest: CodePointRange[] = []
  let next = 0
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    if (first > next) rest.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  return next <= LAST_POINT ? [...rest, [next, LAST_POINT]] : rest
}
