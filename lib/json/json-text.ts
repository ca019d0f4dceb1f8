/**
 * Edits JSON texts in place: values with their positions, and changes that keep every other character. Numbers keep
 * their spelling (1.0, 1e3), keys their order, duplicates their position. It accepts what Python's json.loads accepts,
 * including NaN and Infinity. Offsets are UTF-16 units; ranges are half-open.
 */

/** A parsed value with its range in the text. */
export type JsonNode =
  | (Place & { readonly kind: 'object'; readonly members: readonly JsonMember[] })
  | (Place & { readonly kind: 'array'; readonly items: readonly JsonNode[] })
  | (Place & { readonly kind: 'string'; readonly value: string })
  /** A number, true, false or null. Its spelling is the source text of its range. */
  | (Place & { readonly kind: 'plain' })

/** A member of an object with its key. */
export interface JsonMember extends Place {
  readonly key: string
  readonly value: JsonNode
}

interface Place {
  readonly start: number
  readonly end: number
}

/** A syntax error in the words of json.loads. Lines and columns are counted from 1. */
interface JsonProblem {
  readonly message: string
  readonly line: number
  readonly column: number
}

/** The parsed text, or the problem. */
export type JsonReading =
  | { readonly ok: true; readonly root: JsonNode }
  | { readonly ok: false; readonly problem: JsonProblem }

/** Maximum depth of a text. No message is that deep, and the stack does not overflow. */
const DEEPEST = 200

/** Parses a JSON text with positions. */
export function readJsonText(text: string): JsonReading {
  const reader: Reader = { text, at: 0 }
  try {
    skipSpace(reader)
    const root = value(reader, 0)
    skipSpace(reader)
    if (reader.at < text.length) fail(reader, 'Extra data')
    return { ok: true, root }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ok: false, problem: { message: error.message, ...lineAndColumn(text, error.at) } }
  }
}

function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** Returns the value of a key; of duplicates the last one, as in Python. */
export const memberOf = (node: JsonNode | undefined, key: string): JsonMember | undefined =>
  node?.kind === 'object' ? node.members.findLast((member) => member.key === key) : undefined

/** Returns the source text of a value. */
export const sourceOf = (text: string, { start, end }: Place): string => text.slice(start, end)

/** Returns the source text without indentation; an insertion indents it again. */
export function sourceAtMargin(text: string, place: Place): string {
  const indent = indentAt(text, place.start)
  return indent === '' ? sourceOf(text, place) : sourceOf(text, place).replaceAll(`\n${indent}`, '\n')
}

const replaced = (text: string, { start, end }: Place, source: string): string =>
  text.slice(0, start) + source + text.slice(end)

/** Keys and indices that lead to a value, from the outermost one inwards. */
export type JsonPath = readonly (string | number)[]

/** Returns the value at a path, or undefined. */
export function nodeAt(node: JsonNode | undefined, path: JsonPath): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(
    (held, step) =>
      typeof step === 'string' ? memberOf(held, step)?.value : held?.kind === 'array' ? held.items[step] : undefined,
    node,
  )
}

/**
 * Replaces the value at the path by `source`; a missing key is added at the end of its object, and the index after a
 * list's last likewise. A text without such a position is unchanged.
 */
export function withValue(text: string, path: JsonPath, source: string): string {
  const node = at(text, path)
  if (node) return replaced(text, node, source.replaceAll('\n', `\n${indentAt(text, node.start)}`))
  const holder = at(text, path.slice(0, -1))
  const last = path.at(-1)
  if (holder?.kind === 'object' && typeof last === 'string')
    return withEntry(text, holder, holder.members, `${JSON.stringify(last)}: ${source}`)
  if (holder?.kind === 'array' && last === holder.items.length) return withEntry(text, holder, holder.items, source)
  return text
}

/** Removes the value at a path. */
export function withoutValue(text: string, path: JsonPath): string {
  const holder = at(text, path.slice(0, -1))
  const last = path.at(-1)
  if (holder?.kind === 'array' && typeof last === 'number') return without(text, holder, holder.items, last)
  const member = typeof last === 'string' ? memberOf(holder, last) : undefined
  return holder?.kind === 'object' && member
    ? without(text, holder, holder.members, holder.members.indexOf(member))
    : text
}

/** Inserts `source` before the item at the path, or after the last one. */
export function withInserted(text: string, path: JsonPath, source: string): string {
  const list = at(text, path.slice(0, -1))
  const next = at(text, path)
  if (list?.kind !== 'array' || !next) return withValue(text, path, source)
  const between = separator(text, list, list.items)
  return replaced(text, { start: next.start, end: next.start }, `${indented(source, between)},${between}`)
}

/** Swaps two items of the list at the path; everything around them stays. */
export function withSwapped(text: string, path: JsonPath, a: number, b: number): string {
  const first = at(text, [...path, Math.min(a, b)])
  const second = at(text, [...path, Math.max(a, b)])
  if (!first || !second || first.start === second.start) return text
  return replaced(replaced(text, second, sourceOf(text, first)), first, sourceOf(text, second))
}

function at(text: string, path: JsonPath): JsonNode | undefined {
  const reading = readJsonText(text)
  return reading.ok ? nodeAt(reading.root, path) : undefined
}

function withEntry(text: string, holder: Place, entries: readonly Place[], source: string): string {
  const last = entries.at(-1)
  const between = separator(text, holder, entries)
  if (last) return replaced(text, { start: last.end, end: last.end }, `,${between}${indented(source, between)}`)
  const [open, close] = [text.charAt(holder.start), text.charAt(holder.end - 1)]
  const inner = indented(source, between)
  return replaced(text, holder, between === '' ? open + inner + close : open + between + inner + outer(between) + close)
}

function without(text: string, holder: Place, entries: readonly Place[], at: number): string {
  const [before, gone, after] = [entries[at - 1], entries[at], entries[at + 1]]
  if (!gone) return text
  if (after) return replaced(text, { start: gone.start, end: after.start }, '')
  if (before) return replaced(text, { start: before.end, end: gone.end }, '')
  return replaced(text, { start: holder.start + 1, end: holder.end - 1 }, '')
}

/**
 * Returns the text between two entries: the same as between existing ones, or a line deeper than the container's own.
 */
function separator(text: string, holder: Place, entries: readonly Place[]): string {
  const [first, second] = entries
  if (first && second) return text.slice(first.end, second.start).replace(/^\s*,/, '') || ' '
  const lead = first && /^[\s]*$/.exec(text.slice(holder.start + 1, first.start))?.[0]
  if (lead !== undefined) return lead === '' ? ' ' : lead
  return holder.start === 0 || text.includes('\n') ? `\n${indentAt(text, holder.start)}  ` : ''
}

/** Returns the white space at the start of an offset's line. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? ''

/** Indents a text of several lines to the depth of the separator. */
const indented = (source: string, between: string): string =>
  between.includes('\n') ? source.replaceAll('\n', `\n${between.slice(between.lastIndexOf('\n') + 1)}`) : source

const outer = (between: string): string => (between.includes('\n') ? between.replace(/ {2}$/, '') : '')

interface Reader {
  readonly text: string
  at: number
}

class Unreadable extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

function fail(reader: Reader, message: string, at = reader.at): never {
  throw new Unreadable(message, at)
}

function skipSpace(reader: Reader): void {
  while (' \t\n\r'.includes(reader.text.charAt(reader.at) || '.')) reader.at++
}

function value(reader: Reader, depth: number): JsonNode {
  if (depth > DEEPEST) fail(reader, 'Nested too deeply')
  switch (reader.text.charAt(reader.at)) {
    case '{':
      return object(reader, depth)
    case '[':
      return array(reader, depth)
    case '"': {
      const start = reader.at
      const read = string(reader)
      return { kind: 'string', value: read, start, end: reader.at }
    }
    default:
      return plain(reader)
  }
}

function object(reader: Reader, depth: number): JsonNode {
  const start = reader.at++
  const members: JsonMember[] = []
  skipSpace(reader)
  if (taken(reader, '}')) return { kind: 'object', members, start, end: reader.at }
  for (;;) {
    const memberStart = reader.at
    if (reader.text.charAt(reader.at) !== '"') fail(reader, 'Expecting property name enclosed in double quotes')
    const key = string(reader)
    skipSpace(reader)
    if (!taken(reader, ':')) fail(reader, "Expecting ':' delimiter")
    skipSpace(reader)
    const held = value(reader, depth + 1)
    members.push({ key, value: held, start: memberStart, end: reader.at })
    skipSpace(reader)
    if (taken(reader, '}')) return { kind: 'object', members, start, end: reader.at }
    const comma = reader.at
    if (!taken(reader, ',')) fail(reader, "Expecting ',' delimiter")
    skipSpace(reader)
    if (reader.text.charAt(reader.at) === '}') fail(reader, 'Illegal trailing comma before end of object', comma)
  }
}

function array(reader: Reader, depth: number): JsonNode {
  const start = reader.at++
  const items: JsonNode[] = []
  skipSpace(reader)
  if (taken(reader, ']')) return { kind: 'array', items, start, end: reader.at }
  for (;;) {
    items.push(value(reader, depth + 1))
    skipSpace(reader)
    if (taken(reader, ']')) return { kind: 'array', items, start, end: reader.at }
    const comma = reader.at
    if (!taken(reader, ',')) fail(reader, "Expecting ',' delimiter")
    skipSpace(reader)
    if (reader.text.charAt(reader.at) === ']') fail(reader, 'Illegal trailing comma before end of array', comma)
  }
}

function taken(reader: Reader, sign: string): boolean {
  if (reader.text.charAt(reader.at) !== sign) return false
  reader.at++
  return true
}

function string(reader: Reader): string {
  const { text, at } = reader
  let end = at
  do end = text.indexOf('"', end + 1)
  while (end !== -1 && backslashesBefore(text, end) % 2 === 1)
  if (end === -1) return badString(reader)
  try {
    const read = JSON.parse(text.slice(at, end + 1)) as string
    reader.at = end + 1
    return read
  } catch {
    return badString(reader)
  }
}

function backslashesBefore(text: string, end: number): number {
  let start = end
  while (text.charAt(start - 1) === '\\') start--
  return end - start
}

function badString(reader: Reader): never {
  for (let at = reader.at + 1; at < reader.text.length; at++) {
    const sign = reader.text.charAt(at)
    if (sign === '"') break
    if (sign < ' ') fail(reader, 'Invalid control character at', at)
    if (sign !== '\\') continue
    const [found] = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(reader.text.slice(at, at + 6)) ?? []
    if (found === undefined)
      fail(reader, reader.text.charAt(at + 1) === 'u' ? 'Invalid \\uXXXX escape' : 'Invalid \\escape', at)
    at += found.length - 1
  }
  return fail(reader, 'Unterminated string starting at')
}

const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity/y

function plain(reader: Reader): JsonNode {
  PLAIN.lastIndex = reader.at
  const [source] = PLAIN.exec(reader.text) ?? []
  if (source === undefined) return fail(reader, 'Expecting value')
  const start = reader.at
  reader.at += source.length
  return { kind: 'plain', start, end: reader.at }
}
