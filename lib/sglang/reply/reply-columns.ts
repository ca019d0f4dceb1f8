/**
 * Reads the logprobs of a reply as columns. SGLang sends them as rows, `[logprob, id, null]` each: they are nearly the
 * whole reply, and making a list of each row takes longer than the rest of the reading. If the rows are written as
 * SGLang writes them, their numbers are read from the bytes; any other reply goes through JSON.parse and the schema,
 * with the same result.
 */
import { isObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { SglangError } from '../client/errors.ts'
import type { GenerateReply, TokenLogprob } from '../server/schema.ts'

/** Logprobs and ids as parallel lists. */
export interface LogprobLists {
  readonly ids: readonly number[]
  readonly logprobs: readonly (number | null)[]
}

/** Alternatives with k entries for each token; the id is −1 if a row is shorter or null. */
export interface TopColumns extends LogprobLists {
  readonly k: number
}

/** The columns of a reply; a list without rows in the reply is omitted. */
export interface ReplyColumns {
  readonly input?: LogprobLists
  readonly output?: LogprobLists
  readonly inputTop?: TopColumns
  readonly outputTop?: TopColumns
}

type Meta = GenerateReply['meta_info']

/**
 * Reads the columns of a reply that has rows; those of the prompt only if they are still unread. Throws SglangError
 * TOO_LARGE.
 */
export function columnsIn(meta: Meta, withPrompt = true): ReplyColumns {
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
    throw new SglangError('TOO_LARGE', `the response has up to ${k} alternatives for each of ${rows.length} tokens`)
  const cells = rows.flatMap((row) => Array.from({ length: k }, (_, column) => row?.[column] ?? ([null, -1] as const)))
  return { k, ids: cells.map(([, id]) => id), logprobs: cells.map(([logprob]) => logprob) }
}

interface ReadBytes {
  /** The reply with null in place of its rows. */
  readonly value: unknown
  readonly columns: ReplyColumns
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
  const columns: { -readonly [Name in keyof ReplyColumns]: LogprobLists & TopColumns } = {}
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
  const value = parsed(Buffer.concat(rest).toString('utf8'))
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
  const columns = scan.columns()
  return columns && { columns, end: scan.at }
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
  if (k === undefined || !columns || blank > MOST_CELLS) return undefined
  return {
    columns: {
      k,
      ids: new Array<number>(blank).fill(-1).concat(columns.ids),
      logprobs: new Array<number | null>(blank).fill(null).concat(columns.logprobs),
    },
    end: scan.at,
  }
}

const OPEN = 0x5b
const CLOSE = 0x5d
const COMMA = 0x2c
const N = 0x6e
const ZERO = 0x30
const NINE = 0x39
/** The digits of an id that is exact as a number. */
const MOST_DIGITS = 15
/**
 * The largest number of entries for alternatives, including the padding of short rows; as JSON rows they would be 200
 * MB.
 */
const MOST_CELLS = 1 << 24

/** Marks the bytes that a JSON number may contain. */
const IN_NUMBER = new Uint8Array(256)
for (const byte of Buffer.from('0123456789+-.eE')) IN_NUMBER[byte] = 1

/** The buffer is reused: a scan ends before anything else runs. */
const scratch = Buffer.alloc(1 << 20)

const roomFor = (length: number): Buffer => (length <= scratch.length ? scratch : Buffer.alloc(length))

/**
 * Scans bytes from an offset. It reads ids itself and collects the digits of the logprobs, which JSON.parse reads all
 * at once.
 */
class Scan {
  at: number
  readonly #json: Uint8Array
  readonly #ids: number[] = []
  /** Indices whose logprob is null. */
  readonly #unknown: number[] = []
  readonly #digits: Buffer
  #end = 1

  constructor(json: Uint8Array, start: number) {
    this.at = start
    this.#json = json
    this.#digits = roomFor(json.length - start + 2)
    this.#digits[0] = OPEN
  }

  get count(): number {
    return this.#ids.length
  }

  /** Adds this many unknown entries, for a null. */
  nulls(count: number): boolean {
    if (!isNull(this.#json, this.at) || this.#ids.length + count > MOST_CELLS) return false
    this.at += 4
    for (let place = 0; place < count; place++) {
      this.#unknown.push(this.#ids.length)
      this.#ids.push(-1)
    }
    return true
  }

  /** Scans a list of rows; returns false if it is written in another way. */
  rows(): boolean {
    // Locals, and no checks of indices: this runs for every byte of a reply. After its end it reads 0, which no list contains.
    const json = this.#json
    const digits: Uint8Array = this.#digits
    const ids = this.#ids
    let at = this.at
    let end = this.#end
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
        at += 4
        byte = json[at] ?? 0
      } else {
        if (IN_NUMBER[byte] !== 1) return false
        for (; IN_NUMBER[byte] === 1; byte = json[++at] ?? 0) digits[end++] = byte
        digits[end++] = COMMA
      }
      if (byte !== COMMA) return false
      const first = ++at
      let id = 0
      for (byte = json[at] ?? 0; byte >= ZERO && byte <= NINE; byte = json[++at] ?? 0) id = 10 * id + (byte - ZERO)
      const length = at - first
      if (length === 0 || length > MOST_DIGITS || (length > 1 && json[first] === ZERO)) return false
      ids.push(id)
      if (byte !== COMMA || !isNull(json, at + 1) || json[at + 5] !== CLOSE) return false
      at += 6
      byte = json[at++] ?? 0
      if (byte === CLOSE) break
      if (byte !== COMMA) return false
    }
    this.at = at
    this.#end = end
    return true
  }

  /** Returns all that was scanned; undefined if a logprob is not a number. */
  columns(): LogprobLists | undefined {
    const ids = this.#ids
    const unknown = this.#unknown
    if (ids.length === unknown.length) return { ids, logprobs: ids.map(() => null) }
    this.#digits[this.#end - 1] = CLOSE
    const known = parsed(this.#digits.toString('latin1', 0, this.#end)) as number[] | undefined
    if (!known || unknown.length === 0) return known && { ids, logprobs: known }
    const logprobs = new Array<number | null>(ids.length)
    let nulls = 0
    for (let index = 0; index < ids.length; index++) {
      if (unknown[nulls] === index) {
        logprobs[index] = null
        nulls++
      } else logprobs[index] = elementAt(known, index - nulls)
    }
    return { ids, logprobs }
  }
}

const isNull = (json: Uint8Array, at: number): boolean =>
  json[at] === N && json[at + 1] === 0x75 && json[at + 2] === 0x6c && json[at + 3] === 0x6c

/** Parses JSON; undefined if the text is not JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
