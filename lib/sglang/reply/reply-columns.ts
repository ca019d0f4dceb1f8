/**
 * Reads the logprobs of a reply as columns. SGLang sends them as rows, `[logprob, id, null]` each: they are nearly the
 * whole reply, and making a list of each row takes longer than the rest of the reading. If the rows are written as
 * SGLang writes them, their numbers are read from the bytes; any other reply goes through JSON.parse and the schema,
 * with the same result.
 */

import { EngineError } from '#lib/engine/http/errors.ts'
import type { EngineColumns, LogprobLists, TopColumns } from '#lib/engine/reply.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { GenerateReply, TokenLogprob } from '../server/schema.ts'
import { DIGITS_OF_PART, decimalValue, MOST_DIGITS } from './decimal.ts'

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

const LISTS = [
  { name: 'input_token_logprobs', column: 'input', scan: scanRows },
  { name: 'output_token_logprobs', column: 'output', scan: scanRows },
  { name: 'input_top_logprobs', column: 'inputTop', scan: scanTop },
  { name: 'output_top_logprobs', column: 'outputTop', scan: scanTop },
] as const
// No text contains this, because the quotes in it would be escaped.
const BEGINNINGS = LISTS.map(({ name }) => Buffer.from(`"${name}":[`))

/** Placeholder of a list, which shows whether the list was at the right path. */
const CUT_OUT = 'cut out: its columns are known'
const CUT_OUT_JSON = Buffer.from(JSON.stringify(CUT_OUT))

/** Reads a reply from its bytes of JSON; undefined if they must be read in another way. */
export function readBytes(json: Buffer): ReadBytes | undefined {
  const found = LISTS.flatMap((list, index) => {
    const beginning = BEGINNINGS[index] as Buffer
    const at = json.indexOf(beginning)
    return at < 0 ? [] : [{ ...list, start: at + beginning.length - 1 }]
  }).sort((a, b) => a.start - b.start)
  const columns: { -readonly [Name in keyof EngineColumns]: LogprobLists & TopColumns } = {}
  const rest: Buffer[] = []
  let from = 0
  for (const { column, scan, start } of found) {
    const scanned = scan(json, start)
    if (!scanned) return undefined
    columns[column] = scanned.columns as LogprobLists & TopColumns
    rest.push(json.subarray(from, start), CUT_OUT_JSON)
    from = scanned.end
  }
  rest.push(json.subarray(from))
  const value = parseJson(Buffer.concat(rest).toString('utf8'))
  const meta = isObject(value) ? value.meta_info : undefined
  if (!isObject(meta)) return undefined
  for (const { name, column } of LISTS) {
    // A list that the scan did not find may still exist, with spaces around it.
    if (column in columns ? meta[name] !== CUT_OUT : (meta[name] ?? null) !== null) return undefined
  }
  for (const { name } of found) (meta as Record<string, unknown>)[name] = null
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
  return { columns: scan.columns(), end: scan.at }
}

/** Scans a list of lists of rows, each of the same length or null. */
function scanTop(json: Buffer, start: number): Scanned<TopColumns> | undefined {
  const scan = new Scan(json, start + 1)
  if (json[start + 1] === CLOSE) return { columns: { k: 0, ids: [], logprobs: [] }, end: start + 2 }
  let k: number | undefined
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
  const columns = scan.columns()
  const blank = nulls * (k ?? 0)
  if (k === undefined || blank > MOST_CELLS) return undefined
  return {
    columns: {
      k,
      ids: blank === 0 ? columns.ids : new Array<number>(blank).fill(-1).concat(columns.ids),
      logprobs: blank === 0 ? columns.logprobs : new Array<number | null>(blank).fill(null).concat(columns.logprobs),
    },
    end: scan.at,
  }
}

const OPEN = 0x5b
const CLOSE = 0x5d
const COMMA = 0x2c
const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const N = 0x6e
const ZERO = 0x30
const NINE = 0x39
/** Sets the bit by which a small letter differs from a capital. */
const SMALL = 0x20
const E = 0x65
/** The digits of an id that is exact as a number. */
const MOST_ID_DIGITS = 15
/** The digits of an exponent; numbers with longer ones are read in another way. */
const MOST_EXPONENT_DIGITS = 3
/**
 * The largest number of entries for alternatives, including the padding of short rows; as JSON rows they would be 200
 * MB.
 */
const MOST_CELLS = 1 << 24

/** Scans bytes from an offset. */
class Scan {
  at: number
  readonly #json: Buffer
  readonly #ids: number[] = []
  /** Unknown ones are NaN, because numbers among nulls take three times the memory. */
  readonly #logprobs: number[] = []
  /** Indices whose logprob is null. */
  readonly #unknown: number[] = []

  constructor(json: Buffer, start: number) {
    this.at = start
    this.#json = json
  }

  get count(): number {
    return this.#ids.length
  }

  /** Adds this many unknown entries, for a null. */
  nulls(count: number): boolean {
    if (!isNull(this.#json, this.at) || this.#ids.length + count > MOST_CELLS) return false
    this.at += 4
    for (let place = 0; place < count; place++) this.#add(-1)
    return true
  }

  #add(id: number): void {
    this.#unknown.push(this.#ids.length)
    this.#ids.push(id)
    this.#logprobs.push(Number.NaN)
  }

  /** Scans a list of rows; returns false if it is written in another way. */
  rows(): boolean {
    // Locals, and no checks of indices: this runs for every byte of a reply. After its end it reads 0, which no list contains.
    const json: Uint8Array = this.#json
    const ids = this.#ids
    const logprobs = this.#logprobs
    let at = this.at
    if (json[at++] !== OPEN) return false
    if (json[at] === CLOSE) {
      this.at = at + 1
      return true
    }
    for (;;) {
      if (json[at++] !== OPEN) return false
      let byte = json[at] ?? 0
      if (byte === N && isNull(json, at)) {
        this.#unknown.push(ids.length)
        logprobs.push(Number.NaN)
        at += 4
        byte = json[at] ?? 0
      } else {
        const start = at
        const isNegative = byte === MINUS
        if (isNegative) byte = json[++at] ?? 0
        const first = at
        let point = -1
        let high = 0
        let low = 0
        // Digits from the first that is not 0.
        let digits = 0
        for (; ; byte = json[++at] ?? 0) {
          if (byte >= ZERO && byte <= NINE) {
            if (digits < DIGITS_OF_PART) high = 10 * high + (byte - ZERO)
            else low = 10 * low + (byte - ZERO)
            if (digits > 0 || byte !== ZERO) digits++
          } else if (byte === POINT && point < 0) point = at
          else break
        }
        const whole = (point < 0 ? at : point) - first
        if (whole === 0 || (whole > 1 && json[first] === ZERO) || point === at - 1) return false
        let scale = point < 0 ? 0 : at - point - 1
        if ((byte | SMALL) === E) {
          byte = json[++at] ?? 0
          const isSmall = byte === MINUS
          if (isSmall || byte === PLUS) byte = json[++at] ?? 0
          const from = at
          let exponent = 0
          for (; byte >= ZERO && byte <= NINE; byte = json[++at] ?? 0) exponent = 10 * exponent + (byte - ZERO)
          if (at === from || at - from > MOST_EXPONENT_DIGITS) return false
          scale += isSmall ? exponent : -exponent
        }
        let value =
          digits > MOST_DIGITS
            ? Number.NaN
            : decimalValue(high, low, digits > DIGITS_OF_PART ? digits - DIGITS_OF_PART : 0, scale)
        if (Number.isNaN(value)) value = Number(this.#json.toString('latin1', start, at))
        else if (isNegative) value = -value
        logprobs.push(value)
      }
      if (byte !== COMMA) return false
      const first = ++at
      let id = 0
      for (byte = json[at] ?? 0; byte >= ZERO && byte <= NINE; byte = json[++at] ?? 0) id = 10 * id + (byte - ZERO)
      const length = at - first
      if (length === 0 || length > MOST_ID_DIGITS || (length > 1 && json[first] === ZERO)) return false
      ids.push(id)
      if (byte !== COMMA || !isNull(json, at + 1) || json[at + 5] !== CLOSE) return false
      at += 6
      byte = json[at++] ?? 0
      if (byte === CLOSE) break
      if (byte !== COMMA) return false
    }
    this.at = at
    return true
  }

  /** Returns all that was scanned. */
  columns(): LogprobLists {
    const ids = this.#ids
    if (this.#unknown.length === 0) return { ids, logprobs: this.#logprobs }
    const logprobs: (number | null)[] = this.#logprobs.slice()
    for (const index of this.#unknown) logprobs[index] = null
    return { ids, logprobs }
  }
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
