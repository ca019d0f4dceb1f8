/** Where think blocks stand in a response: they shield what is drafted in them from the tool-call parser. */

import { spellingsOf, type TextRange, type ToolParser } from './parser.ts'
import { earlier } from './reading/calls.ts'
import { finder } from './reading/finder.ts'
import { marksOf, THINK_FORMS } from './thinking-forms.ts'

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
  const endOfCall = spellingsOf(calls).map(({ open, close }) => {
    const nextOpen = finder(text, open)
    // Where no delimiter closes a call, there is no telling what stands inside one.
    const nextClose = close === '' ? () => -1 : finder(text, close)
    return (from: number, before: number): number => {
      const opens = nextOpen(from)
      if (opens < 0 || opens + open.length > before) return -1
      const closes = nextClose(opens + open.length)
      return closes < 0 ? -1 : closes + close.length
    }
  })
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
      // Skips the tool calls that open before the delimiter; where one closes after it, the delimiter lies inside it.
      for (;;) {
        const end = endOfCall.reduce((first, next) => earlier(first, next(position, delimiter.start)), -1)
        if (end < 0) break
        position = end
        if (position > delimiter.start) break
      }
      if (position <= delimiter.start) start = delimiter.start
    }
  }
  return start >= 0 ? [...blocks, { start, end: text.length, closed: false }] : blocks
}

/**
 * Think delimiters by their text alone: for a text without ids, where one that was spelled out looks like a real one. Of
 * several forms the one counts that opens first.
 */
export function thinkDelimitersIn(text: string): readonly ThinkDelimiter[] {
  const found = THINK_FORMS.map((form) => form.read(marksOf(form, text), text))
  const opensAt = (delimiters: readonly ThinkDelimiter[]) =>
    delimiters.find(({ kind }) => kind === 'open')?.start ?? Infinity
  return found.reduce((first, other) => (opensAt(other) < opensAt(first) ? other : first))
}

/** What was thought, without delimiters and the white space at them. */
export function thoughtIn(block: string): string {
  const delimiters = THINK_FORMS.flatMap((form) => form.read(marksOf(form, block), block))
  const open = delimiters.find(({ kind, start }) => kind === 'open' && start === 0)
  const close = delimiters.find(({ kind, end }) => kind === 'close' && end === block.length)
  return block.slice(open?.end ?? 0, close?.start ?? block.length)
}
