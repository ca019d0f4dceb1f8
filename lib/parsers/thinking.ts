/** Finds the think blocks of a response. The tool-call parser ignores calls that are drafted in them. */

import { spellingsOf, type TextRange, type ToolParser } from './parser.ts'
import { earlierPosition } from './reading/calls.ts'
import { createFinder } from './reading/finder.ts'
import { THINK_FORMS, type ThinkDelimiter, thinkMarksOf } from './thinking-forms.ts'

/** A think block. */
export interface ThinkBlock extends TextRange {
  /** False if no delimiter closes the block: it ends with the text, or where a call opens. */
  readonly closed: boolean
}

/**
 * Returns think blocks with their delimiters. `delimiters` are sorted; `opened` is true if the prompt ended inside of a
 * block. A delimiter inside of a tool call is text of an argument, and one that closes nothing is text.
 */
export function thinkBlocks(
  text: string,
  delimiters: readonly ThinkDelimiter[],
  opened: boolean,
  calls: ToolParser['delimiters'],
): readonly ThinkBlock[] {
  const blocks: ThinkBlock[] = []
  const endOfCall = spellingsOf(calls).map(({ open, close }) => {
    const nextOpen = createFinder(text, open)
    // Without a closing delimiter of calls, nothing is known to be inside of one.
    const nextClose = close === '' ? () => -1 : createFinder(text, close)
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
      // Skips the tool calls that open before the delimiter; if one closes after it, the delimiter is inside of that
      // call.
      for (;;) {
        const end = endOfCall.reduce((first, next) => earlierPosition(first, next(position, delimiter.start)), -1)
        if (end < 0) break
        position = end
        if (position > delimiter.start) break
      }
      if (position <= delimiter.start) start = delimiter.start
    }
  }
  return start >= 0 ? [...blocks, { start, end: endOfUnclosed(text, start, calls), closed: false }] : blocks
}

/**
 * Openings of calls, or of their sections, at which the reasoning parsers of SGLang or vLLM end a think block that nothing closes
 * (docs/decisions/0106-calls-end-unclosed-thinking.md). Other formats leave what follows in the block.
 */
const ENDS_OF_UNCLOSED: ReadonlySet<string> = new Set([
  '<tool_call>',
  '<|tool_calls_section_begin|>',
  '<tool_calls>',
  '<tool_calls:opensource>',
  '<ifm|tool_call>',
  '<ifm|tool_calls>',
  '<|open|>tools<|sep|>',
  '<|START_ACTION|>',
  '<｜DSML｜tool_calls>',
  '<｜DSML｜ calls>',
  '<|tool_call>',
  '<minimax:tool_call>',
  '[TOOL_CALLS]',
  '<|plamo:begin_tool_requests:plamo|>',
  '<seed:tool_call>',
])

function endOfUnclosed(text: string, start: number, calls: ToolParser['delimiters']): number {
  const opens = spellingsOf(calls)
    .flatMap(({ open, section }) => [open, section?.open ?? open])
    .filter((open) => ENDS_OF_UNCLOSED.has(open))
    .reduce((first, open) => earlierPosition(first, text.indexOf(open, start)), -1)
  return opens < 0 ? text.length : opens
}

/**
 * Finds think delimiters by their text, for texts without ids, where a spelled delimiter looks like a real one. Of
 * several forms, the first that opens counts; if none does, the first that closes.
 */
export function thinkDelimitersIn(text: string): readonly ThinkDelimiter[] {
  const found = THINK_FORMS.map((form) => {
    const delimiters = form.read(thinkMarksOf(form, text), text)
    const startOf = (counts: (delimiter: ThinkDelimiter) => boolean) => delimiters.find(counts)?.start ?? Infinity
    return {
      delimiters,
      opens: startOf(({ kind }) => kind === 'open'),
      closes: startOf(({ start, end }) => form.ends?.includes(text.slice(start, end)) === true),
    }
  })
  return found.reduce((first, other) =>
    other.opens < first.opens || (first.opens === Infinity && other.closes < first.closes) ? other : first,
  ).delimiters
}

/** Returns the text of a think block, without delimiters and the white space next to them. */
export function thoughtIn(block: string): string {
  const delimiters = THINK_FORMS.flatMap((form) => form.read(thinkMarksOf(form, block), block))
  const open = delimiters.find(({ kind, start }) => kind === 'open' && start === 0)
  const close = delimiters.find(({ kind, end }) => kind === 'close' && end === block.length)
  return block.slice(open?.end ?? 0, close?.start ?? block.length)
}
