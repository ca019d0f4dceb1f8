/**
 * Parses JSON with long lists of numbers from its bytes. The text of such a list is several times as large as its values,
 * so each list is parsed in parts, and the rest of the text without the lists.
 */
import { elementAt } from '#lib/util/element-at.ts'
import { markAbsentFrom, parsePythonJson } from './python-json.ts'

/** Lists with at least this many bytes are parsed in parts. */
export const LONG_LIST = 1 << 16
/** Approximate number of bytes of a part. */
const PART = 1 << 16

interface Options {
  readonly long?: number
  readonly part?: number
}

/**
 * Returns the value that `parsePythonJson` returns for the text of the bytes. Returns undefined if the bytes have no long
 * list, or if a part is invalid: only the whole text gives the value or the reason then.
 */
export function parseLongLists(
  bytes: Uint8Array,
  { long = LONG_LIST, part = PART }: Options = {},
): { readonly value: unknown } | undefined {
  const ranges = longLists(bytes, long)
  if (ranges.length === 0) return undefined
  try {
    const { outline, mark } = outlineOf(bytes, ranges)
    const lists = ranges.map(({ start, end }) => listOf(bytes.subarray(start + 1, end - 1), part))
    return { value: withLists(outline, mark, lists) }
  } catch {
    return undefined
  }
}

/** Returns the value with a text in place of each list: the mark and the index of the list. Throws for invalid text. */
function outlineOf(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
): { readonly outline: unknown; readonly mark: string } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const gaps: string[] = []
  let from = 0
  for (const { start, end } of [...ranges, { start: bytes.length, end: bytes.length }]) {
    gaps.push(decoder.decode(bytes.subarray(from, start)))
    from = end
  }
  const mark = markAbsentFrom(gaps.join(''))
  const text = gaps.map((gap, index) => (index === 0 ? gap : `"${mark}${index - 1}"${gap}`)).join('')
  return { outline: parsePythonJson(text), mark }
}

interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Returns the ranges of the long lists that contain neither texts nor lists nor objects, with their brackets. */
function longLists(bytes: Uint8Array, long: number): readonly ByteRange[] {
  const ranges: ByteRange[] = []
  let start = -1
  for (let at = 0; at < bytes.length; at++) {
    while (at < bytes.length && HAS_MEANING[bytes[at] ?? 0] === 0) at++
    switch (bytes[at]) {
      case QUOTE:
        start = -1
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
        break
      case OPEN_BRACKET:
        start = at
        break
      case OPEN_BRACE:
      case CLOSE_BRACE:
        start = -1
        break
      case CLOSE_BRACKET:
        if (start >= 0 && at + 1 - start >= long) ranges.push({ start, end: at + 1 })
        start = -1
        break
    }
  }
  return ranges
}

/** Returns the entries of a list, given the bytes between its brackets. Throws SyntaxError. */
function listOf(bytes: Uint8Array, part: number): readonly unknown[] {
  const decoder = new TextDecoder()
  const parts: (readonly unknown[])[] = []
  for (let from = 0; from <= bytes.length; ) {
    const comma = bytes.indexOf(COMMA, from + part)
    const to = comma < 0 ? bytes.length : comma
    const entries = parsePythonJson(`[${decoder.decode(bytes.subarray(from, to))}]`) as readonly unknown[]
    if (entries.length === 0) throw new SyntaxError('an entry is missing')
    parts.push(entries)
    from = to + 1
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
