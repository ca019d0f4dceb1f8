/**
 * Reads token ids from common forms: a JSON list, numbers with spaces or commas between them, JSON or JSON lines with a field of ids
 * (`input_ids` of a request, `prompt_token_ids`, `tokens` of trainers), and arrays as numpy and torch print them.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

/** Ids that were read, or the error with its position. */
export type IdsIn =
  | {
      readonly ok: true
      readonly ids: readonly number[]
      /** The field `text` of the record. Omitted: it has none. */
      readonly text?: string
      /** Number of lists of ids in the text. `ids` is the requested one. */
      readonly records: number
    }
  /** `at` is the UTF-16 offset of the error in the text. */
  | { readonly ok: false; readonly why: string; readonly at: number }

/** Reads the ids of a text. `record` selects a list, from 0; the last one is used if there are fewer. An empty text has no ids. */
export function readIds(text: string, record = 0): IdsIn {
  const start = text.search(/\S/)
  if (start < 0) return { ok: true, ids: [], records: 0 }
  const found = text[start] === '{' ? jsonLines(text) : (jsonLists(text) ?? [scanIds(text)])
  const chosen = elementAt(found, Math.min(record, found.length - 1))
  return chosen.ok ? { ...chosen, records: found.length } : chosen
}

/** Returns the UTF-16 range of an id in a text that `readIds` has read; undefined for JSON objects, and if there is no such id. */
export function placeOfId(text: string, index: number): { readonly start: number; readonly end: number } | undefined {
  if (text.trimStart().startsWith('{')) return undefined
  let count = 0
  for (const { 0: digits, index: start } of withoutFrame(text).matchAll(/\d+/g))
    if (count++ === index) return { start, end: start + digits.length }
  return undefined
}

type Found =
  | { readonly ok: true; readonly ids: readonly number[]; readonly text?: string }
  | { readonly ok: false; readonly why: string; readonly at: number }

/** Field names of ids. If a record has several of them, the first one in this order is used. */
const FIELDS = ['input_ids', 'prompt_token_ids', 'token_ids', 'tokens', 'ids'] as const

/** Reads one JSON object, or one in each line. */
function jsonLines(text: string): readonly Found[] {
  try {
    return [inRecord(JSON.parse(text), 0)]
  } catch (error) {
    const lines = [...text.matchAll(/[^\n]*\S[^\n]*/g)]
    if (lines.length < 2) return [notJson(error, text, 0)]
    return lines.map(({ 0: line, index }) => {
      try {
        return inRecord(JSON.parse(line), index)
      } catch (inLine) {
        return notJson(inLine, line, index)
      }
    })
  }
}

/** Reads a JSON list of lists or objects. Returns undefined for any other text, which is read number by number. */
function jsonLists(text: string): readonly Found[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length === 0) return undefined
  if (value.every(isObject)) return value.map((record) => inRecord(record, 0))
  return value.every(Array.isArray) ? value.map((list) => inList(list, 0, '')) : undefined
}

function inRecord(value: unknown, at: number): Found {
  const record = value as JsonObject
  const field = FIELDS.find((name) => Array.isArray(record[name]))
  if (field === undefined) return { ok: false, why: `expected a field ${FIELDS.join(', ')} with a list of ids`, at }
  const list = record[field] as readonly unknown[]
  const [first] = list
  const found = inList(list.length === 1 && Array.isArray(first) ? first : list, at, field)
  return found.ok && typeof record.text === 'string' ? { ...found, text: record.text } : found
}

function inList(list: readonly unknown[], at: number, field: string): Found {
  const index = list.findIndex((id) => !isId(id))
  if (index < 0) return { ok: true, ids: list as readonly number[] }
  return { ok: false, why: `${field}[${index}]: expected a token id, found ${JSON.stringify(list[index])}`, at }
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

function scanIds(text: string): Found {
  const plain = withoutFrame(text)
  const ids: number[] = []
  for (const { 0: word, index } of plain.matchAll(/[^\s,;[\](){}]+/g)) {
    if (/^\d+$/.test(word) && isId(Number(word))) ids.push(Number(word))
    else return { ok: false, why: wrongWord(word), at: index }
  }
  return { ok: true, ids }
}

function wrongWord(word: string): string {
  if (/^(\.\.\.|…)/.test(word)) return 'the printed array omits ids here: print the whole array'
  if (/^-\d+$/.test(word)) return `expected a token id, found ${word}: ids are not negative`
  return `expected a token id, found ${excerpt(word, 40)}`
}

/** Replaces what numpy and torch print around numbers by spaces, so that offsets stay the same. */
const withoutFrame = (text: string): string =>
  text
    .replace(/^\s*(?:np\.|numpy\.|torch\.)?(?:array|tensor)\(/, blank)
    .replace(/,\s*(?:dtype|device|shape|requires_grad)=[^\]]*$/, blank)

const blank = (text: string): string => ' '.repeat(text.length)

function notJson(error: unknown, text: string, at: number): Found {
  const { message } = error as SyntaxError
  const place = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
  return { ok: false, why: `it is not JSON: ${message}`, at: at + Math.min(place, text.length) }
}
