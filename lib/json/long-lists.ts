/**
 * Parses JSON with long lists of numbers from its bytes. The bytes and the text of such a list are as large as its values or
 * larger, so each list is read and parsed in parts, and the rest of the text without the lists.
 */
import { elementAt } from '#lib/util/element-at.ts'
import { markAbsentFrom, parsePythonJson } from './python-json.ts'

/** Lists with at least this many bytes are parsed in parts. */
export const LONG_LIST = 1 << 16
/** Approximate number of bytes of a part. */
const PART = 1 << 16
/** Number of bytes that are read at once, except between lists. */
const PIECE = 1 << 20

/** The bytes of a text. */
interface ByteSource {
  readonly size: number
  /** Reads from `start` to `end`. The result may be overwritten by the next call. */
  read(start: number, end: number): Promise<Uint8Array>
}

interface Options {
  readonly long?: number
  readonly part?: number
  readonly piece?: number
}

/**
 * Returns the value that `parsePythonJson` returns for the text of the bytes. Returns undefined if the bytes have no long
 * list, or if a part is invalid: only the whole text gives the value or the reason then. Rejects if reading rejects.
 */
export async function parseLongLists(
  bytes: ByteSource,
  { long = LONG_LIST, part = PART, piece = PIECE }: Options = {},
): Promise<{ readonly value: unknown } | undefined> {
  const ranges = await longLists(bytes, long, piece)
  if (ranges.length === 0) return undefined
  const gaps = await gapsOf(bytes, ranges)
  if (!gaps) return undefined
  try {
    const { outline, mark } = outlineOf(gaps)
    const lists: (readonly unknown[])[] = []
    for (const range of ranges) lists.push(await listOf(bytes, range, { part, piece }))
    return { value: withLists(outline, mark, lists) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns the texts before, between and after the lists; undefined if one is not UTF-8. */
async function gapsOf(bytes: ByteSource, ranges: readonly ByteRange[]): Promise<readonly string[] | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const gaps: string[] = []
  let from = 0
  for (const { start, end } of [...ranges, { start: bytes.size, end: bytes.size }]) {
    const gap = await bytes.read(from, start)
    try {
      gaps.push(decoder.decode(gap))
    } catch {
      return undefined
    }
    from = end
  }
  return gaps
}

/** Returns the value with a text in place of each list: the mark and the index of the list. Throws SyntaxError. */
function outlineOf(gaps: readonly string[]): { readonly outline: unknown; readonly mark: string } {
  const mark = markAbsentFrom(gaps.join(''))
  const text = gaps.map((gap, index) => (index === 0 ? gap : `"${mark}${index - 1}"${gap}`)).join('')
  return { outline: parsePythonJson(text), mark }
}

/** The range of a list in the bytes, with its brackets. */
interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Returns the ranges of the long lists that contain neither texts nor lists nor objects, with their brackets. */
async function longLists({ size, read }: ByteSource, long: number, piece: number): Promise<readonly ByteRange[]> {
  const ranges: ByteRange[] = []
  let start = -1
  let inText = false
  let isEscaped = false
  for (let from = 0; from < size; from += piece) {
    const bytes = await read(from, Math.min(from + piece, size))
    for (let at = 0; at < bytes.length; at++) {
      // After the last byte, a quote ends the search.
      if (!inText) while (HAS_MEANING[bytes[at] ?? QUOTE] === 0) at++
      const byte = bytes[at]
      if (inText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inText = false
        continue
      }
      switch (byte) {
        case QUOTE:
          start = -1
          inText = true
          break
        case OPEN_BRACKET:
          start = from + at
          break
        case OPEN_BRACE:
        case CLOSE_BRACE:
          start = -1
          break
        case CLOSE_BRACKET:
          if (start >= 0 && from + at + 1 - start >= long) ranges.push({ start, end: from + at + 1 })
          start = -1
          break
      }
    }
  }
  return ranges
}

/** Returns the entries of a list. Throws SyntaxError. */
async function listOf(
  { read }: ByteSource,
  { start, end }: ByteRange,
  { part, piece }: { readonly part: number; readonly piece: number },
): Promise<readonly unknown[]> {
  const decoder = new TextDecoder()
  const parts: (readonly unknown[])[] = []
  for (let from = start + 1; from < end; ) {
    const bytes = await read(from, Math.min(from + piece, end - 1))
    // An entry that continues in the next piece is read again with it.
    const whole = bytes.subarray(0, from + bytes.length === end - 1 ? bytes.length : bytes.lastIndexOf(COMMA))
    for (let at = 0; at <= whole.length; ) {
      const comma = whole.indexOf(COMMA, at + part)
      const to = comma < 0 ? whole.length : comma
      const entries = parsePythonJson(`[${decoder.decode(whole.subarray(at, to))}]`) as readonly unknown[]
      if (entries.length === 0) throw new SyntaxError('an entry is missing, or longer than a piece')
      parts.push(entries)
      at = to + 1
    }
    from += whole.length + 1
  }
  return ([] as unknown[]).concat(...parts)
}

/** Replaces the texts that are a mark and an index by the lists. */
function withLists(value: unknown, mark: string, lists: readonly (readonly unknown[])[]): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) return elementAt(lists, Number(value.slice(mark.length)))
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (mayHaveLists(value[index])) value[index] = withLists(value[index], mark, lists)
  } else if (typeof value === 'object' && value !== null) {
    const holder = value as Record<string, unknown>
    // Every key is the object's own, so this also replaces the value of the key __proto__.
    for (const key in holder) if (mayHaveLists(holder[key])) holder[key] = withLists(holder[key], mark, lists)
  }
  return value
}

/** Returns false for numbers, which are most of a file. */
const mayHaveLists = (value: unknown): boolean => typeof value === 'string' || typeof value === 'object'

const [QUOTE, BACKSLASH, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  34, 92, 44, 91, 93, 123, 125,
] as const

/** 1 for each byte with which a text, a list or an object begins or ends. The others are most of a file. */
const HAS_MEANING = new Uint8Array(256)
for (const byte of [QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE]) HAS_MEANING[byte] = 1
