/**
 * Edits JSON texts in place: values with their positions, and changes that keep every other character. Numbers keep
 * their spelling (1.0, 1e3), keys their order, duplicates their position. It accepts what Python's json.loads accepts,
 * including NaN and Infinity. Offsets are UTF-16 units; ranges are half-open.
 */

import type { JsonPath } from './json-path.ts'
import { JsonError, type JsonMember, type JsonValues, readJsonAs } from './json-reader.ts'

/** A parsed value with its range in the text. */
export type JsonNode =
  | (Place & { readonly kind: 'object'; readonly members: readonly JsonMember<JsonNode>[] })
  | (Place & { readonly kind: 'array'; readonly items: readonly JsonNode[] })
  | (Place & { readonly kind: 'string'; readonly value: string })
  /** A number, true, false or null. Its spelling is the source text of its range. */
  | (Place & { readonly kind: 'plain' })

interface Place {
  readonly start: number
  readonly end: number
}

/** The parsed text, or the problem. */
export type JsonReading =
  | { readonly ok: true; readonly root: JsonNode }
  | { readonly ok: false; readonly problem: Pick<JsonError, 'message' | 'line' | 'column'> }

/** No message is as deep as the limit, and the stack does not overflow. */
const NODES: JsonValues<JsonNode> = {
  string: (value, start, end) => ({ kind: 'string', value, start, end }),
  plain: (_, start, end) => ({ kind: 'plain', start, end }),
  array: (items, start, end) => ({ kind: 'array', items, start, end }),
  object: (members, start, end) => ({ kind: 'object', members, start, end }),
  depth: 200,
  tooDeep: 'Nested too deeply',
  namesTrailingCommas: true,
}

/** Parses a JSON text with positions. */
export function readJsonText(text: string): JsonReading {
  try {
    return { ok: true, root: readJsonAs(text, NODES) }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message, line, column } = error
    return { ok: false, problem: { message, line, column } }
  }
}

/** Returns the value of a key; of duplicates the last one, as in Python. */
export const memberOf = (node: JsonNode | undefined, key: string): JsonMember<JsonNode> | undefined =>
  node?.kind === 'object' ? node.members.findLast((member) => member.key === key) : undefined

/** Returns the source text of a value. */
export const sourceOf = (text: string, { start, end }: Place): string => text.slice(start, end)

/** Returns the source text without indentation; an insertion indents it again. */
export function sourceAtMargin(text: string, place: Place): string {
  const indent = indentAt(text, place.start)
  return indent === '' ? sourceOf(text, place) : sourceOf(text, place).replaceAll(`\n${indent}`, '\n')
}

const replaceRange = (text: string, { start, end }: Place, source: string): string =>
  text.slice(0, start) + source + text.slice(end)

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
  if (node) return replaceRange(text, node, source.replaceAll('\n', `\n${indentAt(text, node.start)}`))
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
  return replaceRange(text, { start: next.start, end: next.start }, `${indentSource(source, between)},${between}`)
}

/** Swaps two items of the list at the path; everything around them stays. */
export function withSwapped(text: string, path: JsonPath, a: number, b: number): string {
  const first = at(text, [...path, Math.min(a, b)])
  const second = at(text, [...path, Math.max(a, b)])
  if (!first || !second || first.start === second.start) return text
  return replaceRange(replaceRange(text, second, sourceOf(text, first)), first, sourceOf(text, second))
}

function at(text: string, path: JsonPath): JsonNode | undefined {
  const reading = readJsonText(text)
  return reading.ok ? nodeAt(reading.root, path) : undefined
}

function withEntry(text: string, holder: Place, entries: readonly Place[], source: string): string {
  const last = entries.at(-1)
  const between = separator(text, holder, entries)
  if (last) return replaceRange(text, { start: last.end, end: last.end }, `,${between}${indentSource(source, between)}`)
  const [open, close] = [text.charAt(holder.start), text.charAt(holder.end - 1)]
  const inner = indentSource(source, between)
  return replaceRange(
    text,
    holder,
    between === '' ? open + inner + close : open + between + inner + outer(between) + close,
  )
}

function without(text: string, holder: Place, entries: readonly Place[], at: number): string {
  const [before, gone, after] = [entries[at - 1], entries[at], entries[at + 1]]
  if (!gone) return text
  if (after) return replaceRange(text, { start: gone.start, end: after.start }, '')
  if (before) return replaceRange(text, { start: before.end, end: gone.end }, '')
  return replaceRange(text, { start: holder.start + 1, end: holder.end - 1 }, '')
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
const indentSource = (source: string, between: string): string =>
  between.includes('\n') ? source.replaceAll('\n', `\n${between.slice(between.lastIndexOf('\n') + 1)}`) : source

const outer = (between: string): string => (between.includes('\n') ? between.replace(/ {2}$/, '') : '')
