/** Divides a text into tiles by what a parser reads; together they are the text. */
import type { CallMarkup, ParsedCall, TextRange } from '#lib/parsers/parser.ts'
import { elementAt } from '#lib/util/element-at.ts'

/**
 * marker: what the format writes around names and values. malformed: in a call that could not be read. dropped: in neither calls nor rest.
 * think and rest remain in the text.
 */
export type TilePart = 'marker' | 'name' | 'key' | 'value' | 'malformed' | 'dropped' | 'think' | 'rest'

/** A range of the text with one part. */
export interface Tile extends TextRange {
  readonly part: TilePart
  /** Index of the call that contains it. */
  readonly call?: number
  /** Index of the argument in the call. */
  readonly argument?: number
}

/** Text that is in neither the calls nor the rest, without any report. */
export interface DroppedText extends TextRange {
  readonly why: string
}

interface Found {
  readonly calls: readonly ParsedCall[]
  readonly thinks: readonly TextRange[]
  readonly markup: readonly CallMarkup[]
}

/** Returns the tiles in order, without gaps. */
export function tilesOf(
  text: string,
  { calls, thinks, markup }: Found,
  dropped: readonly DroppedText[],
): readonly Tile[] {
  const isDropped = new Set(dropped.map(({ start }) => start))
  const outer: Tile[] = [
    ...calls.flatMap(callTiles),
    ...outside(
      thinks,
      calls.map((call) => call.text),
    ).map(({ start, end }): Tile => ({ start, end, part: 'think' })),
    ...markup.map(({ start, end }): Tile => ({ start, end, part: isDropped.has(start) ? 'dropped' : 'marker' })),
  ]
  return fillGaps(0, text.length, outer, { part: 'rest' })
}

/** Returns what of some ranges is in none of the others; both are in order. A call that is not closed can extend into a block. */
function outside(ranges: readonly TextRange[], others: readonly TextRange[]): readonly TextRange[] {
  const left: TextRange[] = []
  let next = 0
  for (const { start, end } of ranges) {
    let at = start
    while ((others[next]?.end ?? Infinity) <= at) next++
    for (let inside = next; (others[inside]?.start ?? Infinity) < end; inside++) {
      const other = elementAt(others, inside)
      if (other.start > at) left.push({ start: at, end: other.start })
      at = Math.max(at, other.end)
    }
    if (at < end) left.push({ start: at, end })
  }
  return left
}

/** Returns the tiles of a call; text between its parts belongs to the format. */
function callTiles(call: ParsedCall, index: number): readonly Tile[] {
  if (call.kind === 'malformed') return [{ ...range(call.text), part: 'malformed', call: index }]
  const parts: Tile[] = [
    { ...range(call.nameText), part: 'name', call: index },
    ...call.ignored.map((one): Tile => ({ ...range(one), part: 'dropped', call: index })),
    ...call.arguments.flatMap(({ key, text }, at): Tile[] => [
      { ...range(key), part: 'key', call: index, argument: at },
      { ...range(text), part: 'value', call: index, argument: at },
    ]),
  ]
  return fillGaps(call.text.start, call.text.end, parts, { part: 'marker', call: index })
}

/** Returns the members of a call that were read and ignored. */
export const droppedInCall = (call: Extract<ParsedCall, { kind: 'parsed' }>): readonly DroppedText[] =>
  call.ignored.map((one) => ({ ...range(one), why: 'an unused member' }))

/** Returns tags around no call, which are cut out of the text without a report. Calls and tags are in order. */
export function droppedTags(calls: readonly ParsedCall[], markup: readonly CallMarkup[]): readonly DroppedText[] {
  const dropped: DroppedText[] = []
  let open: { readonly tag: CallMarkup; readonly callsBefore: number } | undefined
  let callsBefore = 0
  const dropEmpty = () => {
    if (open && open.callsBefore === callsBefore) dropped.push({ ...range(open.tag), why: 'a section without calls' })
  }
  for (const tag of markup) {
    if (tag.kind === 'between') continue
    while ((calls[callsBefore]?.text.start ?? Infinity) < tag.start) callsBefore++
    if (tag.kind === 'close' && (!open || open.callsBefore === callsBefore))
      dropped.push({ ...range(tag), why: open ? 'a section without calls' : 'a closing tag without a section' })
    dropEmpty()
    open = tag.kind === 'open' ? { tag, callsBefore } : undefined
  }
  callsBefore = calls.length
  dropEmpty()
  return dropped
}

/** Returns the parts in order, and tiles between them. Empty parts contain no character and are left out. */
function fillGaps(start: number, end: number, parts: readonly Tile[], between: Omit<Tile, 'start' | 'end'>): Tile[] {
  const tiles: Tile[] = []
  let at = start
  for (const part of parts.filter((one) => one.end > one.start).toSorted((a, b) => a.start - b.start)) {
    if (part.start > at) tiles.push({ start: at, end: part.start, ...between })
    tiles.push(part)
    at = part.end
  }
  if (end > at) tiles.push({ start: at, end, ...between })
  return tiles
}

const range = ({ start, end }: TextRange): TextRange => ({ start, end })
