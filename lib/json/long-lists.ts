/**
 * Parses JSON with long lists of numbers from its bytes. The bytes and the text of such a list are as large as its values or
 * larger, so each list is read and parsed in parts, and the rest of the text without the lists.
 */
import { elementAt } from '#lib/util/element-at.ts'
import { markAbsentFrom, parseShallowJson } from './python-json.ts'

/** Lists with at least this many bytes are parsed in parts. */
export const LONG_LIST = 1 << 16
/** Approximate number of bytes of a part. */
const PART = 1 << 16
/** Number of parts of a list that are kept for the next one: 4 MiB of bytes. */
const MOST_PARTS_KEPT = 64
/** Number of bytes that are read at once, except between lists. */
const PIECE = 1 << 20

/** The bytes of a text. */
interface ByteSource {
  readonly size: number
  /** Reads from `start` to `end`. The result may be overwritten by the next call. */
  read(start: number, end: number): Promise<Uint8Array>
}

interface Options {
  readonly part?: number
  readonly piece?: number
}

/** A range of bytes, half-open. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Returns the value that `parseShallowJson` returns for the text of the bytes. `ranges` are long lists without texts, lists and objects,
 * with their brackets and in order. Returns undefined if a part is invalid: only the whole text gives the value or the reason then.
 * Rejects if reading rejects.
 */
export async function parseLongLists(
  bytes: ByteSource,
  ranges: readonly ByteRange[],
  { part = PART, piece = PIECE }: Options = {},
): Promise<{ readonly value: unknown } | undefined> {
  const gaps = await gapsOf(bytes, ranges)
  if (!gaps) return undefined
  try {
    const { outline, mark } = outlineOf(gaps)
    const lists: (readonly unknown[])[] = []
    const parse = createPartParser()
    for (const range of ranges) lists.push(await listOf(bytes, range, parse, { part, piece }))
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
  // A mark that is longer than any run in a gap is in none of them.
  const mark = gaps.map(markAbsentFrom).reduce((a, b) => (a.length < b.length ? b : a))
  const text = gaps.map((gap, index) => (index === 0 ? gap : `"${mark}${index - 1}"${gap}`)).join('')
  return { outline: parseShallowJson(text), mark }
}

/** Returns the entries of a list. Throws SyntaxError. */
async function listOf(
  { read }: ByteSource,
  { start, end }: ByteRange,
  parse: PartParser,
  { part, piece }: { readonly part: number; readonly piece: number },
): Promise<readonly unknown[]> {
  const parts: (readonly unknown[])[] = []
  for (let from = start + 1; from < end; ) {
    const bytes = await read(from, Math.min(from + piece, end - 1))
    // An entry that continues in the next piece is read again with it.
    const last = from + bytes.length === end - 1 ? bytes.length : bytes.lastIndexOf(COMMA)
    if (last < 0) throw new SyntaxError('an entry is longer than a piece')
    const whole = bytes.subarray(0, last)
    for (let at = 0; at <= whole.length; ) {
      const comma = whole.indexOf(COMMA, at + part)
      const to = comma < 0 ? whole.length : comma
      const entries = parse(whole.subarray(at, to), parts.length)
      if (entries.length === 0) throw new SyntaxError('an entry is missing')
      parts.push(entries)
      at = to + 1
    }
    from += whole.length + 1
  }
  return ([] as unknown[]).concat(...parts)
}

/** Returns the entries in the bytes of a part of a list. `index` counts the parts of the list. Throws SyntaxError. */
type PartParser = (bytes: Uint8Array, index: number) => readonly unknown[]

/**
 * Returns a parser that keeps the first parts of the list before. Each prompt of a trajectory repeats the ids of the prompt before it, and
 * comparing bytes takes a tenth of the time of parsing them.
 */
function createPartParser(): PartParser {
  const decoder = new TextDecoder()
  const before: { readonly bytes: Uint8Array; readonly entries: readonly unknown[] }[] = []
  return (bytes, index) => {
    const same = before[index]
    if (same && areEqual(same.bytes, bytes)) return same.entries
    const entries = parseShallowJson(`[${decoder.decode(bytes)}]`) as readonly unknown[]
    // A copy: the bytes may be overwritten, and the slice of a Buffer shares its memory.
    if (index < MOST_PARTS_KEPT) before[index] = { bytes: new Uint8Array(bytes), entries }
    return entries
  }
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let index = 0
  while (index < a.length && a[index] === b[index]) index++
  return index === a.length
}

/** Replaces the texts that are a mark and an index by the lists. */
function withLists(outline: unknown, mark: string, lists: readonly (readonly unknown[])[]): unknown {
  let left = lists.length
  const replaced = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (!value.startsWith(mark)) return value
      left--
      return elementAt(lists, Number(value.slice(mark.length)))
    }
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length && left > 0; index++)
        if (mayHaveLists(value[index])) value[index] = replaced(value[index])
    } else if (typeof value === 'object' && value !== null) {
      const holder = value as Record<string, unknown>
      // Every key is the object's own, so this also replaces the value of the key __proto__.
      for (const key in holder) {
        if (left === 0) break
        if (mayHaveLists(holder[key])) holder[key] = replaced(holder[key])
      }
    }
    return value
  }
  return replaced(outline)
}

/** Returns false for numbers, which are most of a file. */
const mayHaveLists = (value: unknown): boolean => typeof value === 'string' || typeof value === 'object'

const COMMA = 44
