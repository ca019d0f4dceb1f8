/**
 * Finds the records of a JSON file in its bytes, before parsing: where each begins and ends, and whether the file keeps
 * the limits. The results are candidates, which only the parser can confirm. Memory is proportional to the number of
 * records.
 */

import { type ByteRange, LONG_LIST } from '#lib/json/long-lists.ts'
import { int32At, uint8At } from '#lib/util/element-at.ts'
import { bytesText, type Limits } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'

/** Bytes of a file with one record, or with an object of several. Half-open. */
export interface RecordBytes {
  readonly start: number
  readonly end: number
  /** The line in which its value begins, from 1. It is meaningful only if a file has several values. */
  readonly line: number
  /** Position in a list at the top level of the file or of its line; undefined outside of lists. */
  readonly item: number | undefined
  /** The lists in the record that `parseLongLists` parses in parts: their bytes from the start of the record, with the brackets. */
  readonly longLists: readonly ByteRange[]
  /** Why the record must not be parsed; undefined if only the parser can decide. */
  readonly failure: RecordFailure | undefined
}

/** A limit that a record exceeds, or a structure that is not JSON. */
interface RecordFailure {
  readonly error: Violation
  /** Advice for the user; undefined if the record is not JSON. */
  readonly hint: string | undefined
}

/** A limit that the whole file exceeds. */
interface Broken {
  readonly error: Violation
  readonly hint: string
}

/** The records that were found. */
interface FoundRecords {
  readonly records: readonly RecordBytes[]
  readonly isLines: boolean
  /** True if the first value spans several lines, so that it may also be JSON lines whose first line is broken. */
  readonly isSpread: boolean
}

/** Receives a record when its end is found. `isLine` is true if the record is a line of several, or in a later one. */
type OnFound = (record: RecordBytes, isLine: boolean) => void

/** Finds records in the bytes of a file. */
export interface RecordFinder {
  /** Adds the next bytes of the file. Ignored once the file is broken. */
  push(bytes: Uint8Array): void
  /** Returns the number of records found so far. */
  count(): number
  /** Returns true as soon as the file exceeds a limit: the rest need not be read. */
  isBroken(): boolean
  /** Ends the file. `isLines` is true if the file has several values. */
  end(): FoundRecords | Broken
}

/**
 * Creates a finder. Whether each line is a value of its own is found out from the first line, unless `areLines` says so. A broken
 * record does not affect those after it. With `onFound` the finder keeps no record and limits no number of them.
 */
export function createRecordFinder(limits: Limits, areLines?: true, onFound?: OnFound): RecordFinder {
  const records: RecordBytes[] = []
  /** Number of entries of each open list or object, by its depth. Levels that are too deep share the last number. */
  const entries = new Int32Array(limits.depth + 2)
  let broken: Broken | undefined
  let offset = 0
  let line = 1
  let lines = 0
  /** True if each line is a value; undefined until the first line ends. */
  let isLines: boolean | undefined = areLines
  let depth = 0
  let inString = false
  let isEscaped = false
  /** Start of the current value; -1 before it begins. */
  let start = -1
  /** Number of elements of a list at the top level; -1 outside of lists. */
  let items = -1
  let isItemEmpty = true
  let isListClosed = false
  /** True after the end of an object at the top level. An object or list that follows is a further value. */
  let isObjectClosed = false
  /** Line in which the current value begins. */
  let startLine = 1
  /** Start of the innermost list if it contains no text, list or object so far; -1 otherwise. */
  let listStart = -1
  let longLists: ByteRange[] = []
  /** The first failure of the current record. */
  let failure: RecordFailure | undefined

  const fail = (error: Violation, hint?: string): void => {
    failure ??= { error, hint }
  }
  /** `at` is the position, from 0. */
  const notJson = (found: string, at: number) =>
    fail({ path: '', expected: 'JSON', found: `${found} (byte ${at + 1})` })

  const found = (end: number): void => {
    if (end - start > limits.recordBytes) tooLong()
    const record = { start, end, line: startLine, item: items < 0 ? undefined : items, longLists, failure }
    if (onFound) onFound(record, isLines === true && (items < 0 || startLine > 1))
    else if (records.length === limits.records) {
      const [error, hint] = tooManyRecords(limits)
      broken ??= { error, hint }
    } else records.push(record)
    longLists = []
    failure = undefined
  }
  const tooLong = () => fail(...recordTooLong(limits))

  /** A value ends with its line, with the file, before the next value, or before a comma or a record separator after it. */
  const endValue = (end: number): void => {
    if (start < 0) return
    lines++
    if (items >= 0 && !isListClosed) notJson('a list that has no end', end)
    if (items < 0 || failure) found(end)
    start = -1
    items = -1
    isListClosed = false
    isObjectClosed = false
    depth = 0
    entries[0] = 0
    inString = false
    isEscaped = false
    listStart = -1
    longLists = []
  }

  const endItem = (at: number, isLast: boolean): void => {
    if (isItemEmpty && !(isLast && items === 0)) notJson('a list with an element missing', at)
    if (!isItemEmpty || failure) {
      found(at)
      items++
    }
    start = at + 1
    isItemEmpty = true
  }

  const open = (at: number, byte: number): void => {
    listStart = byte === OPEN_BRACKET && (depth > 0 || start !== at) ? at : -1
    if (depth === 0 && byte === OPEN_BRACKET && start === at) {
      items = 0
      isItemEmpty = true
      start = at + 1
    } else if (depth === 1) isItemEmpty = false
    depth++
    if (depth > limits.depth)
      fail({ path: '', expected: 'JSON', found: `it is nested deeper than ${limits.depth} levels (byte ${at + 1})` })
    entries[level()] = 0
  }

  const level = (): number => Math.min(depth, limits.depth + 1)

  const close = (at: number, byte: number): void => {
    if (byte === CLOSE_BRACKET && listStart >= 0 && at + 1 - listStart >= LONG_LIST)
      longLists.push({ start: listStart - start, end: at + 1 - start })
    listStart = -1
    if (depth === 1 && items >= 0) {
      if (byte !== CLOSE_BRACKET) notJson('a list that ends with }', at)
      endItem(at, true)
      isListClosed = true
    }
    if (depth > 0) depth--
    isObjectClosed = depth === 0 && items < 0
  }

  const separatesItems = (): boolean => depth === 1 && items >= 0

  const addEntries = (count: number): void => {
    const all = int32At(entries, level()) + count
    entries[level()] = all
    if (all >= limits.entries)
      fail(
        { path: '', expected: `at most ${limits.entries} entries in a list or an object`, found: 'more' },
        `A trajectory has at most ${limits.tokens} tokens. Cut the record, or split it into several.`,
      )
  }

  /** Returns the index of the last byte of the numbers, words and commas that follow the byte at `from`. They are most of a file. */
  const skipNumbers = (bytes: Uint8Array, from: number): number => {
    let commas = 0
    let i = from + 1
    const { length } = bytes
    if (separatesItems()) while (i < length && KINDS[uint8At(bytes, i)] === 0) i++
    else
      for (; i < length; i++) {
        // Without a branch for commas, whose distance no processor predicts.
        const count = uint8At(COMMAS, uint8At(bytes, i))
        if (count === NO_NUMBERS) break
        commas += count
      }
    if (commas > 0) addEntries(commas)
    return i - 1
  }

  const newline = (at: number): void => {
    // The first line decides whether the others continue its value or are values of their own.
    if (isLines === undefined && (start >= 0 || lines > 0)) isLines = depth === 0 && !inString
    if (isLines) endValue(at)
    line++
  }

  return {
    push(bytes) {
      for (let i = offset === 0 && hasByteOrderMark(bytes) ? 3 : 0; i < bytes.length && !broken; i++) {
        if (inString && !isEscaped) {
          while (i < bytes.length && STRING_KINDS[uint8At(bytes, i)] === 0) i++
          if (i === bytes.length) break
        }
        const byte = uint8At(bytes, i)
        if (byte === RECORD_SEPARATOR) {
          // A value of RFC 7464 may span several lines, and one that was cut ends here.
          isLines = false
          endValue(offset + i)
          continue
        }
        if (inString) {
          if (isEscaped) isEscaped = false
          else if (byte === QUOTE) inString = false
          else if (byte === BACKSLASH) isEscaped = true
          if (byte === NEWLINE) newline(offset + i)
          continue
        }
        const kind = KINDS[byte]
        if (kind === SPACE) continue
        if (kind === COMMA && (isObjectClosed || (isListClosed && !failure))) {
          endValue(offset + i)
          continue
        }
        if (kind === NEWLINE) {
          newline(offset + i)
          continue
        }
        if (kind === OPENS && (isObjectClosed || (isListClosed && !failure))) endValue(offset + i)
        isObjectClosed = false
        if (isListClosed) {
          // The rest of the line or of the file is one broken record.
          if (!failure) start = offset + i
          notJson('more after the end of its list', offset + i)
          continue
        }
        if (start < 0) {
          start = offset + i
          startLine = line
        }
        switch (kind) {
          case OPENS:
            open(offset + i, byte)
            break
          case CLOSES:
            close(offset + i, byte)
            break
          case COMMA:
            if (separatesItems()) endItem(offset + i, false)
            else addEntries(1)
            break
          case QUOTE:
            inString = true
            listStart = -1
            isItemEmpty = false
            break
          default:
            isItemEmpty = false
            i = skipNumbers(bytes, i)
        }
      }
      offset += bytes.length
      if (start >= 0 && offset - start > limits.recordBytes && !isListClosed) tooLong()
    },
    count: () => records.length,
    isBroken: () => broken !== undefined,
    end() {
      endValue(offset)
      return broken ?? { records, isLines: areLines ?? lines > 1, isSpread: !isLines && line > 1 }
    },
  }
}

/** Returns the problem of a file with more records than may be stored at once. */
export const tooManyRecords = ({ records }: Limits): readonly [Violation, string] => [
  { path: '', expected: `at most ${records} trajectories`, found: 'more' },
  'Store its records in several files: for JSON lines, `split -l 10000` writes parts of 10,000.',
]

/** Returns the problem of a file with a record that is too long, and advice. */
export const recordTooLong = ({ recordBytes }: Limits): readonly [Violation, string] => [
  { path: '', expected: `a record of at most ${bytesText(recordBytes)}`, found: 'a longer record' },
  'Leave out columns such as alternatives or routed experts. Write a dump of samples as JSON lines, with a sample on each line.',
]

/** Returns the problem of records that are read together and are too long together, and advice. */
export const joinedTooLong = ({ recordBytes }: Limits): readonly [Violation, string] => [
  { path: '', expected: `records that belong together of at most ${bytesText(recordBytes)}`, found: 'more' },
  'Write each trace, stream or rollout to a file of its own.',
]

const [QUOTE, BACKSLASH, NEWLINE] = [34, 92, 10] as const
/** Begins each value of a JSON text sequence (RFC 7464). No text in JSON contains it. */
const RECORD_SEPARATOR = 0x1e
const [OPEN_BRACKET, CLOSE_BRACKET] = [91, 93] as const

const NO_NUMBERS = 2

/** Meaning of a byte outside of strings; 0 is a part of a value. */
const KINDS = new Uint8Array(256)
const [SPACE, OPENS, CLOSES, COMMA] = [1, 2, 3, 4] as const
for (const byte of [9, 13, 32]) KINDS[byte] = SPACE
KINDS[RECORD_SEPARATOR] = RECORD_SEPARATOR
KINDS[NEWLINE] = NEWLINE
for (const byte of [OPEN_BRACKET, 123]) KINDS[byte] = OPENS
for (const byte of [CLOSE_BRACKET, 125]) KINDS[byte] = CLOSES
KINDS[44] = COMMA
KINDS[QUOTE] = QUOTE

/** Number of commas that a byte is outside of strings, or NO_NUMBERS for a byte that is not among numbers. */
const COMMAS = KINDS.map((kind) => (kind === COMMA ? 1 : kind === 0 || kind === SPACE ? 0 : NO_NUMBERS))

/** 1 for each byte that has a meaning within texts. */
const STRING_KINDS = new Uint8Array(256)
for (const byte of [QUOTE, BACKSLASH, NEWLINE, RECORD_SEPARATOR]) STRING_KINDS[byte] = 1

const hasByteOrderMark = ([first, second, third]: Uint8Array): boolean =>
  first === 0xef && second === 0xbb && third === 0xbf
