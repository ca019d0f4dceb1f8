import { LIMITS } from '#lib/util/limits.ts'
import { isDeeperThan, tooDeepAt } from './json-depth.ts'
import { type ScanError, scanWhole, stringEnd } from './json-scan.ts'

/**
 * Parses JSON as Python's json module writes it, with NaN, Infinity and -Infinity as numbers. A whole number that a double rounds, such as an
 * id of 64 bits, becomes the text of its digits: two of them would be equal. Throws SyntaxError for
 * invalid text, and for text nested deeper than any supported file, because later steps are recursive.
 */
export function parsePythonJson(text: string): unknown {
  const value = parseShallowJson(text)
  if (isDeeperThan(LIMITS.depth, value)) throw tooDeep()
  return value
}

/** Does the same for a text whose nesting was measured before: measuring it again takes as long as a third of the parsing. */
export function parseShallowJson(text: string): unknown {
  const plain = plainJson(text)
  if (plain) return plain.value
  if (tooDeepAt(text, LIMITS.depth) !== undefined) throw tooDeep()
  const mark = markAbsentFrom(text)
  return JSON.parse(
    withWords(text, (word) => JSON.stringify(mark + word)),
    (key, value: unknown, context?: ParseContext) =>
      typeof value === 'string' && value.startsWith(mark)
        ? Number(value.slice(mark.length))
        : exactInteger(key, value, context),
  )
}

interface ParseContext {
  readonly source?: string
}

/** Returns a whole number as text if the number would be written with other digits. */
function exactInteger(_: string, value: unknown, { source = '' }: ParseContext = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  return String(value) === source ? value : source
}

/** A whole number of at least 16 digits. It may be in a text, which costs only time. */
const MAY_ROUND = /[[,:\s]-?\d{16,}(?![\d.eE])/

const TOO_DEEP = `it is nested deeper than ${LIMITS.depth} levels`

const tooDeep = () => new SyntaxError(TOO_DEEP)

/**
 * Returns why `parsePythonJson` throws for this text, and the position: the engine reports no position for some errors.
 */
export function whyNotJson(text: string, of: string): string {
  const deep = tooDeepAt(text, LIMITS.depth)
  if (deep !== undefined) return `${TOO_DEEP} ${placeOf(text, deep, of)}`
  // The scanner refuses everything that the engine refuses.
  const { why, at } = scanWhole(withWords(text, textLike), 0, text.length, true) as ScanError
  return `${why} ${placeOf(text, at, of)}`
}

/** Returns a position as a text. Lines and columns are counted from 1; a text of one line has only columns. */
function placeOf(text: string, at: number, of: string): string {
  const before = text.slice(0, at)
  const column = `column ${at - before.lastIndexOf('\n')}`
  return text.includes('\n') ? `(line ${before.split('\n').length}, ${column}${of})` : `(${column}${of})`
}

/** Returns a string as long as the word, so that positions stay. A number would join adjacent digits. */
const textLike = (word: string): string => JSON.stringify('x'.repeat(word.length - 2))

/** Parses plain JSON, as most files are. The engine needs a fifth of the time of scanning the text. Undefined: it is not plain JSON. */
function plainJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: MAY_ROUND.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Replaces each number that JSON cannot represent. */
function withWords(text: string, write: (word: string) => string): string {
  const parts: string[] = []
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i) - 1
        break
      case LETTER_N:
      case LETTER_I: {
        const word = WORDS.find((name) => text.startsWith(name, i))
        if (word === undefined) break
        const start = text[i - 1] === '-' ? i - 1 : i
        parts.push(text.slice(copied, start), write(text.slice(start, i + word.length)))
        i += word.length - 1
        copied = i + 1
        break
      }
    }
  }
  return parts.join('') + text.slice(copied)
}

const WORDS = ['NaN', 'Infinity'] as const
const [QUOTE, LETTER_N, LETTER_I] = Array.from('"NI', (character) => character.charCodeAt(0))

/** Returns a run of a character that is longer than any in the text or in its parsed texts, which may have escapes. */
export function markAbsentFrom(text: string): string {
  let longest = 0
  // Nearly no text has the character, and a search for texts is several times as fast as one for a pattern.
  if (!['¤', '\\u00a4', '\\u00A4'].some((sign) => text.includes(sign))) return '¤'
  for (const [run] of text.matchAll(/(?:¤|\\u00a4)+/gi)) longest = Math.max(longest, run.length)
  return '¤'.repeat(longest + 1)
}
