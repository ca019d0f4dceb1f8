/**
 * Reads the logprobs of a reply as columns. SGLang sends them as rows, `[logprob, id, null]` each: they are nearly the
 * whole reply, and making a list of each row takes longer than the rest of the reading. If the rows are written as
 * SGLang writes them, their numbers are read from the bytes; any other reply goes through JSON.parse and the schema,
 * with the same result.
 */

import type { EngineColumns, LogprobLists, TopColumns } from '#lib/engine/columns.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { isObject } from '#lib/json/json-object.ts'
import { idList, listedAlternatives, logprobList } from '#lib/trajectory/tokens/alternatives.ts'
import { enlarge } from '#lib/util/enlarge.ts'
import type { GenerateReply, TokenLogprob } from '../server/schema.ts'
import { DIGITS_OF_PART, decimalValue } from './decimal.ts'

type Meta = GenerateReply['meta_info']

/**
 * Reads the columns of a reply that has rows; those of the prompt only if they are still unread. Throws EngineError
 * TOO_LARGE.
 */
export function columnsIn(meta: Meta, withPrompt = true): EngineColumns {
  const { input_token_logprobs, output_token_logprobs, input_top_logprobs, output_top_logprobs } = meta
  return {
    ...(withPrompt && input_token_logprobs && { input: columnsOf(input_token_logprobs) }),
    ...(output_token_logprobs && { output: columnsOf(output_token_logprobs) }),
    ...(withPrompt && input_top_logprobs && { inputTop: topColumnsOf(input_top_logprobs) }),
    ...(output_top_logprobs && { outputTop: topColumnsOf(output_top_logprobs) }),
  }
}

const columnsOf = (rows: readonly TokenLogprob[]): LogprobLists => ({
  ids: rows.map(([, id]) => id),
  logprobs: rows.map(([logprob]) => logprob),
})

function topColumnsOf(rows: readonly (readonly TokenLogprob[] | null)[]): TopColumns {
  const k = rows.reduce((most, row) => Math.max(most, row?.length ?? 0), 0)
  if (rows.length * k > MOST_CELLS)
    throw new EngineError('TOO_LARGE', `the response has up to ${k} alternatives for each of ${rows.length} tokens`)
  const cells = rows.flatMap((row) => Array.from({ length: k }, (_, column) => row?.[column] ?? ([null, -1] as const)))
  return { k, ids: cells.map(([, id]) => id), logprobs: cells.map(([logprob]) => logprob) }
}

interface ReadBytes {
  /** The reply with null in place of its rows. */
  readonly value: unknown
  readonly columns: EngineColumns
}

type ColumnName = keyof EngineColumns

const LISTS: ReadonlyMap<string, { readonly column: ColumnName; readonly isTop: boolean }> = new Map([
  ['input_token_logprobs', { column: 'input', isTop: false }],
  ['output_token_logprobs', { column: 'output', isTop: false }],
  ['input_top_logprobs', { column: 'inputTop', isTop: true }],
  ['output_top_logprobs', { column: 'outputTop', isTop: true }],
])
/** The end of each name and the beginning of its list. No text contains it, because the quote in it would be escaped. */
const BEGINNING = Buffer.from('_logprobs":[')

/** Placeholder of a list, which shows whether the list was at the right path. */
const CUT_OUT = 'cut out: its columns are known'
const CUT_OUT_JSON = Buffer.from(JSON.stringify(CUT_OUT))

/** Reads a reply from its bytes of JSON; undefined if they must be read in another way. */
export function readBytes(json: Buffer): ReadBytes | undefined {
  const columns: { -readonly [Name in ColumnName]?: LogprobLists & TopColumns } = {}
  const rest: Buffer[] = []
  let from = 0
  // The bytes of a list that was read are not searched.
  for (let at = json.indexOf(BEGINNING); at >= 0; at = json.indexOf(BEGINNING, at)) {
    const start = at + BEGINNING.length - 1
    const list = LISTS.get(json.toString('latin1', json.lastIndexOf(QUOTE, at) + 1, start - 2))
    at = start
    if (!list) continue
    const scanned = list.column in columns ? undefined : list.isTop ? scanTop(json, start) : scanRows(json, start)
    if (!scanned) return undefined
    columns[list.column] = scanned.columns as LogprobLists & TopColumns
    rest.push(json.subarray(from, start), CUT_OUT_JSON)
    from = scanned.end
    at = from
  }
  rest.push(json.subarray(from))
  const value = parseJson(Buffer.concat(rest).toString('utf8'))
  const meta = isObject(value) ? value.meta_info : undefined
  if (!isObject(meta)) return undefined
  for (const [name, { column }] of LISTS) {
    // A list that the scan did not find may still exist, with spaces around it.
    if (column in columns) {
      if (meta[name] !== CUT_OUT) return undefined
      ;(meta as Record<string, unknown>)[name] = null
    } else if ((meta[name] ?? null) !== null) return undefined
  }
  return { value, columns }
}

interface Scanned<T> {
  readonly columns: T
  /** The offset after the list. */
  readonly end: number
}

/** Scans a list of rows that begins at `start`. */
function scanRows(json: Buffer, start: number): Scanned<LogprobLists> | undefined {
  const scan = new Scan(json, start)
  if (!scan.rows()) return undefined
  const { ids, logprobs } = scan.cells(0)
  return { columns: { ids: idList(ids), logprobs: logprobList(logprobs) }, end: scan.at }
}

/** Scans a list of lists of rows, each of the same length or null. */
function scanTop(json: Buffer, start: number): Scanned<TopColumns> | undefined {
  const scan = new Scan(json, start + 1)
  if (json[start + 1] === CLOSE) return { columns: { k: 0, ids: [], logprobs: [] }, end: start + 2 }
  let k: number | undefined
  // Nulls before the first row, whose length is then unknown.
  let nulls = 0
  for (;;) {
    if (json[scan.at] === N) {
      if (!scan.nulls(k ?? 0)) return undefined
      if (k === undefined) nulls++
    } else {
      const before = scan.count
      if (!scan.rows()) return undefined
      const length = scan.count - before
      if (length === 0 || (k !== undefined && length !== k)) return undefined
      k = length
    }
    const next = json[scan.at++]
    if (next === CLOSE) break
    if (next !== COMMA) return undefined
  }
  if (k === undefined || nulls * k > MOST_CELLS) return undefined
  const { ids, logprobs } = scan.cells(nulls * k)
  return { columns: listedAlternatives(k, ids, logprobs), end: scan.at }
}

const OPEN = 0x5b
const CLOSE = 0x5d
const COMMA = 0x2c
const QUOTE = 0x22
const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const N = 0x6e
const ZERO = 0x30
/** Sets the bit by which a small letter differs from a capital. */
const SMALL = 0x20
const E = 0x65
/** The digits of an id that always fits into an Int32Array. */
const MOST_ID_DIGITS = 9
/** The digits of an exponent; numbers with longer ones are read in another way. */
const MOST_EXPONENT_DIGITS = 3
/**
 * The largest number of entries for alternatives, including the padding of short rows; as JSON rows they would be 200
 * MB.
 */
const MOST_CELLS = 1 << 24

interface Cells {
  readonly ids: Int32Array
  /** Unknown ones are NaN. */
  readonly logprobs: Float64Array
}

const newCells = (room: number): Cells => ({ ids: new Int32Array(room), logprobs: new Float64Array(room) })

/** The cells that every scan fills first. They are copied when it ends, so that lists need not be measured before. */
const firstCells = newCells(1 << 13)

/** Scans bytes from an offset. */
class Scan {
  at: number
  count = 0
  readonly #json: Buffer
  readonly #words: DataView
  #cells = firstCells

  constructor(json: Buffer, start: number) {
    this.at = start
    this.#json = json
    this.#words = new DataView(json.buffer, json.byteOffset, json.byteLength)
  }

  /** Adds this many unknown entries, for a null. */
  nulls(count: number): boolean {
    if (!isNull(this.#json, this.at) || this.count + count > MOST_CELLS) return false
    this.at += 4
    const end = this.count + count
    while (this.#cells.ids.length < end) this.#grow()
    this.#cells.ids.fill(-1, this.count, end)
    this.#cells.logprobs.fill(Number.NaN, this.count, end)
    this.count = end
    return true
  }

  #grow(): Cells {
    const { ids, logprobs } = this.#cells
    this.#cells = { ids: enlarge(ids), logprobs: enlarge(logprobs) }
    return this.#cells
  }

  /** Scans a list of rows; returns false if it is written in another way. */
  rows(): boolean {
    // Locals, and no checks of indices: this runs for every byte of a reply. After its end it reads 0, which no list contains.
    const json: Uint8Array = this.#json
    const words = this.#words
    const end = json.length - 3
    let { ids, logprobs } = this.#cells
    let count = this.count
    let at = this.at
    if (json[at++] !== OPEN) return false
    if (json[at] === CLOSE) {
      this.at = at + 1
      return true
    }
    for (;;) {
      if (json[at++] !== OPEN) return false
      if (count === ids.length) ({ ids, logprobs } = this.#grow())
      let byte = json[at] ?? 0
      if (byte === N && isNull(json, at)) {
        logprobs[count] = Number.NaN
        at += 4
      } else {
        const start = at
        const isNegative = byte === MINUS
        if (isNegative) at++
        // A byte is a digit if it differs from ZERO by less than ten.
        const first = at
        let high = 0
        let digit = (json[at] ?? 0) ^ ZERO
        for (; digit < 10 && at < first + DIGITS_OF_PART; digit = (json[++at] ?? 0) ^ ZERO) high = 10 * high + digit
        // decimalValue cannot read all digits.
        let isLong = digit < 10
        for (; digit < 10; digit = (json[++at] ?? 0) ^ ZERO);
        const whole = at - first
        if (whole === 0 || (whole > 1 && json[first] === ZERO)) return false
        let low = 0
        let lowCount = 0
        let scale = 0
        if (json[at] === POINT) {
          const point = at++
          digit = (json[at] ?? 0) ^ ZERO
          // Zeros before the first other digit are no digits of `high`.
          if (high === 0) for (; digit === 0; digit = (json[++at] ?? 0) ^ ZERO);
          const endOfHigh = at + DIGITS_OF_PART - (high === 0 ? 0 : whole)
          for (let four = 0; at + 4 <= endOfHigh && at < end; at += 4) {
            four = words.getInt32(at, true) ^ FOUR_ZEROS
            if (!areDigits(four)) break
            high = 10_000 * high + valueOfFour(four)
          }
          digit = (json[at] ?? 0) ^ ZERO
          for (; digit < 10 && at < endOfHigh; digit = (json[++at] ?? 0) ^ ZERO) high = 10 * high + digit
          const startOfLow = at
          for (let four = 0; at + 4 <= startOfLow + DIGITS_OF_PART && at < end; at += 4) {
            four = words.getInt32(at, true) ^ FOUR_ZEROS
            if (!areDigits(four)) break
            low = 10_000 * low + valueOfFour(four)
          }
          digit = (json[at] ?? 0) ^ ZERO
          for (; digit < 10 && at < startOfLow + DIGITS_OF_PART; digit = (json[++at] ?? 0) ^ ZERO)
            low = 10 * low + digit
          lowCount = at - startOfLow
          isLong ||= digit < 10
          for (; digit < 10; digit = (json[++at] ?? 0) ^ ZERO);
          scale = at - point - 1
          if (scale === 0) return false
        }
        byte = json[at] ?? 0
        if ((byte | SMALL) === E) {
          byte = json[++at] ?? 0
          const isSmall = byte === MINUS
          if (isSmall || byte === PLUS) at++
          const from = at
          let exponent = 0
          for (digit = (json[at] ?? 0) ^ ZERO; digit < 10; digit = (json[++at] ?? 0) ^ ZERO)
            exponent = 10 * exponent + digit
          if (at === from || at - from > MOST_EXPONENT_DIGITS) return false
          scale += isSmall ? exponent : -exponent
        }
        const value = isLong ? Number.NaN : decimalValue(high, low, lowCount, scale)
        if (Number.isNaN(value)) logprobs[count] = Number(this.#json.toString('latin1', start, at))
        else logprobs[count] = isNegative ? -value : value
      }
      if (json[at] !== COMMA) return false
      const first = ++at
      let id = 0
      let digit = (json[at] ?? 0) ^ ZERO
      for (; digit < 10 && at < first + MOST_ID_DIGITS; digit = (json[++at] ?? 0) ^ ZERO) id = 10 * id + digit
      if (at === first || (at > first + 1 && json[first] === ZERO)) return false
      ids[count++] = id
      if (json[at] !== COMMA || !isNull(json, at + 1) || json[at + 5] !== CLOSE) return false
      at += 6
      byte = json[at++] ?? 0
      if (byte === CLOSE) break
      if (byte !== COMMA) return false
    }
    this.at = at
    this.count = count
    return true
  }

  /** Returns a copy of all that was scanned, after this many unknown entries. */
  cells(blank: number): Cells {
    const { ids, logprobs } = this.#cells
    if (blank === 0) return { ids: ids.slice(0, this.count), logprobs: logprobs.slice(0, this.count) }
    const cells = newCells(blank + this.count)
    cells.ids.fill(-1, 0, blank).set(ids.subarray(0, this.count), blank)
    cells.logprobs.fill(Number.NaN, 0, blank).set(logprobs.subarray(0, this.count), blank)
    return cells
  }
}

/** Four bytes of digits, of which each differs from its digit. */
const FOUR_ZEROS = 0x30303030

/** Returns whether each of four bytes is less than ten. */
const areDigits = (four: number): boolean => ((four | (four + 0x76767676)) & 0x80808080) === 0

/** Returns the number of four digits, the first in the lowest byte. */
function valueOfFour(four: number): number {
  const pairs = Math.imul(four, 10) + (four >>> 8)
  return 100 * (pairs & 0xff) + ((pairs >>> 16) & 0xff)
}

const isNull = (json: Uint8Array, at: number): boolean =>
  json[at] === N && json[at + 1] === 0x75 && json[at + 2] === 0x6c && json[at + 3] === 0x6c

/** Parses JSON; undefined if the text is not JSON. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
