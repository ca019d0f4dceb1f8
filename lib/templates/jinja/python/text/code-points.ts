/** Counts and classifies text as Python's str does: by code points, with Python's Unicode rules. */

/** Whether a text contains surrogates. Without them UTF-16 units are code points, so that indices are the same. */
export const hasSurrogates = (text: string): boolean => /[\ud800-\udfff]/.test(text)

/** Returns the number of code points. */
export function codePointLength(text: string): number {
  if (!hasSurrogates(text)) return text.length
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Returns text[start:stop]; neither index may be negative. */
export function codePointSlice(text: string, start: number, stop: number): string {
  if (start >= stop) return ''
  if (!hasSurrogates(text)) return text.slice(start, stop)
  const from = unitOffset(text, start, 0)
  return text.slice(from, unitOffset(text, stop - start, from))
}

/** Returns the UTF-16 unit at which the code point `index`, counted from the unit `from`, begins. */
export function unitOffset(text: string, index: number, from = 0): number {
  let unit = from
  for (let seen = 0; seen < index && unit < text.length; seen += 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1
  }
  return unit
}

/** Returns the number of code points before the UTF-16 unit `unit`. */
export const codePointIndex = (text: string, unit: number): number =>
  hasSurrogates(text) ? codePointLength(text.slice(0, unit)) : unit

/** Returns the last character of text[:end]; `end` is in UTF-16 units. */
export function lastCharacter(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end)
  return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : text.slice(end - 1, end)
}

/** Characters that Python's str treats as space, for the character class of a regular expression. */
export const SPACES = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const SPACE = new RegExp(`[${SPACES}]`)
const LEADING_SPACE = new RegExp(`^[${SPACES}]+`)
/** Runs of space, at which str.split() splits. */
export const SPACE_RUN = new RegExp(`[${SPACES}]+`, 'g')
/** Whether one character is space for Python's str. */
export const isSpace = (character: string): boolean => SPACE.test(character)
/** Returns str.isspace(). */
export const isAllSpace = (text: string): boolean => text !== '' && trimEnd(text) === ''

/** Returns str.strip(). */
export const strip = (text: string): string => trimStart(trimEnd(text))
/** Returns str.lstrip(). */
export const trimStart = (text: string): string => text.replace(LEADING_SPACE, '')
/** Returns str.rstrip(). A regular expression for trailing space would be quadratic in spaces. */
export function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** Returns str.splitlines(keepends). */
export function splitLines(text: string, keepEnds: boolean): string[] {
  const lines: string[] = []
  let start = 0
  for (const match of text.matchAll(LINE_END)) {
    lines.push(text.slice(start, keepEnds ? match.index + match[0].length : match.index))
    start = match.index + match[0].length
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python's line boundaries
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g

/** Returns str.isascii(). */
export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)
/** Whether repr() writes one character without an escape. */
export const isPrintable = (character: string): boolean => character === ' ' || !/[\p{C}\p{Z}]/u.test(character)
/** Whether one character is a letter (str.isalpha). */
export const isAlpha = (character: string): boolean => /\p{L}/u.test(character)
/** Whether one character is a decimal digit of any script (str.isdecimal). */
export const isDecimal = (character: string): boolean => /\p{Nd}/u.test(character)
/** Whether one character is a digit, superscripts included (str.isdigit). */
export const isDigit = (character: string): boolean => isDecimal(character) || NO_DECIMAL_DIGIT.test(character)
/** Whether one character is numeric, fractions and CJK numerals included (str.isnumeric). */
export const isNumeric = (character: string): boolean => /\p{N}/u.test(character) || NUMERAL_LETTER.test(character)
/** Whether one character is a letter or numeric (str.isalnum). */
export const isAlphanumeric = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)
/** Whether one character is upper case. */
export const isUpper = (character: string): boolean => /\p{Uppercase}/u.test(character)
/** Whether one character is lower case. */
export const isLower = (character: string): boolean => /\p{Lowercase}/u.test(character)
/** Whether one character is title case, such as the digraph Dž. */
export const isTitle = (character: string): boolean => /\p{Lt}/u.test(character)
const isCased = (character: string): boolean => /[\p{Uppercase}\p{Lowercase}\p{Lt}]/u.test(character)
/** Returns str.islower(): no character has the other case, and at least one has a case. */
export const isLowerText = (text: string): boolean =>
  !/[\p{Uppercase}\p{Lt}]/u.test(text) && /\p{Lowercase}/u.test(text)
/** Returns str.isupper(). */
export const isUpperText = (text: string): boolean =>
  !/[\p{Lowercase}\p{Lt}]/u.test(text) && /\p{Uppercase}/u.test(text)
/** Returns str.isidentifier(). */
export const isIdentifier = (text: string): boolean => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text)

/** Superscripts, circled digits and similar characters: Numeric_Type=Digit. */
const NO_DECIMAL_DIGIT =
  /[\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]/u

/** CJK letters that are numerals. */
const NUMERAL_LETTER =
  /[\u3405\u3483\u382a\u3b4d\u4e00\u4e03\u4e07\u4e09\u4e5d\u4e8c\u4e94\u4e96\u4ebf\u4ec0\u4edf\u4ee8\u4f0d\u4f70\u5104\u5146\u5169\u516b\u516d\u5341\u5343-\u5345\u534c\u53c1-\u53c4\u56db\u58f1\u58f9\u5e7a\u5efe\u5eff\u5f0c-\u5f0e\u5f10\u62fe\u634c\u67d2\u6f06\u7396\u767e\u8086\u842c\u8cae\u8cb3\u8d30\u9621\u9646\u964c\u9678\u96f6\uf96b\uf973\uf978\uf9b2\uf9d1\uf9d3\uf9fd\u{20001}\u{20064}\u{200e2}\u{20121}\u{2092a}\u{20983}\u{2098c}\u{2099c}\u{20aea}\u{20afd}\u{20b19}\u{22390}\u{22998}\u{23b1b}\u{2626d}\u{2f890}]/u

/** Returns the value of a decimal digit of any script. Unicode places these digits in runs from 0 to 9. */
export function decimalDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let before = 0
  while (isDecimal(String.fromCodePoint(code - before - 1))) before += 1
  return before % 10
}

/** Returns str.title() of one character. */
function titleCase(character: string): string {
  const digraph = DIGRAPHS.get(character)
  if (digraph !== undefined) return digraph
  if (/[\p{Lt}\u10d0-\u10ff]/u.test(character)) return character
  const upper = character.toUpperCase()
  if (upper.length < 2) return upper
  // Greek letters with an iota subscript keep it as a mark.
  if (/[\u1f80-\u1fff]/.test(character) && upper.endsWith('\u0399')) {
    const marked = `${upper.slice(0, -1)}\u0345`
    return upper.length === 2 ? marked.normalize('NFC') : marked
  }
  return /[\u00df\u0587\ufb00-\ufb17]/.test(character) ? upper.charAt(0) + upper.slice(1).toLowerCase() : upper
}

const DIGRAPHS = new Map([
  ...[...'\u01c4\u01c6'].map((letter) => [letter, '\u01c5'] as const),
  ...[...'\u01c7\u01c9'].map((letter) => [letter, '\u01c8'] as const),
  ...[...'\u01ca\u01cc'].map((letter) => [letter, '\u01cb'] as const),
  ...[...'\u01f1\u01f3'].map((letter) => [letter, '\u01f2'] as const),
])

/** Returns str.casefold(). JavaScript has no such function, but lower(upper(lower(c))) equals it with few exceptions. */
export function caseFold(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldedCharacter(character)
  return folded
}

function foldedCharacter(character: string): string {
  if (character === '\u0131') return character
  if (/[\u13a0-\u13fd\uab70-\uabbf]/.test(character)) return character.toUpperCase()
  return character.toLowerCase().toUpperCase().toLowerCase()
}

/** Returns str.title(). */
export function titleCaseText(text: string): string {
  return casedWords(text, (character, previousCased, lower) => (previousCased ? lower : titleCase(character)))
}

/** Returns str.capitalize(). */
export function capitalize(text: string): string {
  const [first = ''] = text
  return titleCase(first) + lowerCase(text).slice(loweredLength(first))
}

/** Returns the whole text in lower case, because a final sigma depends on the letters around it. */
const lowerCase = (text: string): string => text.toLowerCase()
const loweredLength = (character: string): number => character.toLowerCase().length

/** Returns str.swapcase(). */
export function swapCase(text: string): string {
  return casedWords(text, (character, _, lower) =>
    isUpper(character) ? lower : isLower(character) ? character.toUpperCase() : character,
  )
}

/** Changes each character, given its lower case in the text (a final sigma is another letter), and joins the results. */
function casedWords(
  text: string,
  change: (character: string, previousCased: boolean, lower: string) => string,
): string {
  const lower = lowerCase(text)
  let result = ''
  let previousCased = false
  let at = 0
  for (const character of text) {
    const length = loweredLength(character)
    result += change(character, previousCased, lower.slice(at, at + length))
    previousCased = isCased(character)
    at += length
  }
  return result
}

/** Returns repr(str). */
export function quoteText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  if (PLAIN.test(text)) return quote + text + quote
  let result = quote
  for (const character of text) {
    if (character === quote || character === '\\') result += `\\${character}`
    else if (character === '\n') result += '\\n'
    else if (character === '\r') result += '\\r'
    else if (character === '\t') result += '\\t'
    else result += isPrintable(character) ? character : escapedCodePoint(character)
  }
  return result + quote
}

/** ASCII without quotes, backslashes and controls. */
const PLAIN = /^[ !#-&(-[\]-~]*$/

/** Returns ascii() of a repr. */
export const ascii = (text: string): string => text.replace(/[^\0-\x7f]/gu, escapedCodePoint)

function escapedCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
