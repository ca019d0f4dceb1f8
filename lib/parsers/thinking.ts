/** Where think blocks stand in a response: they shield what is drafted in them from the tool-call parser. */
import type { TextRange, ToolParser } from './parser.ts'

/** A think delimiter at its place in the text. */
export interface ThinkDelimiter extends TextRange {
  readonly kind: 'open' | 'close'
}

export interface ThinkBlock extends TextRange {
  /** False: the text ends inside the block. */
  readonly closed: boolean
}

/**
 * Think blocks, delimiters included. `delimiters` are sorted; `opened` says that the prompt ended inside a block. A
 * delimiter between the opening and the closing of a tool call is text of an argument, and so is one that closes
 * nothing.
 */
export function thinkBlocks(
  text: string,
  delimiters: readonly ThinkDelimiter[],
  opened: boolean,
  calls: ToolParser['delimiters'],
): readonly ThinkBlock[] {
  const blocks: ThinkBlock[] = []
  let start = opened ? 0 : -1
  let position = 0
  for (const delimiter of delimiters) {
    if (delimiter.start < position) continue
    if (start >= 0) {
      if (delimiter.kind === 'open') continue
      blocks.push({ start, end: delimiter.end, closed: true })
      start = -1
      position = delimiter.end
    } else if (delimiter.kind === 'open') {
      position = endOfCallsBefore(text, position, delimiter.start, calls)
      if (position <= delimiter.start) start = delimiter.start
    }
  }
  return start >= 0 ? [...blocks, { start, end: text.length, closed: false }] : blocks
}

/** Skips the tool calls that open before a place; where one closes after it, the place lies inside that call. */
function endOfCallsBefore(
  text: string,
  from: number,
  place: number,
  { open, close }: ToolParser['delimiters'],
): number {
  let position = from
  for (;;) {
    const opens = text.slice(position, place).indexOf(open)
    if (opens < 0) return position
    const closes = text.indexOf(close, position + opens + open.length)
    if (closes < 0) return position
    position = closes + close.length
    if (position > place) return position
  }
}
