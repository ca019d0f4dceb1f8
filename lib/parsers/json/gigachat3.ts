/**
 * GigaChat 3: `<|function_call|>{"name": …, "arguments": {…}}` after the text in 3.1; 3.0 writes the object as its own
 * message: `<|message_sep|>\n\nfunction call<|role_sep|>\n{…}`. A call ends with its last bracket.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { earlierPosition } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { createObjectReader } from '../reading/json-body.ts'
import { brokenCall, objectCall } from '../reading/object-call.ts'
import { markupOf } from '../reading/rest.ts'
import { type CallRun, readCallRuns } from '../reading/runs.ts'

const MESSAGE_END = '<|message_sep|>'
/** Header of the message with a call in 3.0. */
const HEADER = 'function call<|role_sep|>'
const delimiters = {
  open: '<|function_call|>',
  close: '',
  section: { open: HEADER, close: MESSAGE_END },
} as const
const SPELLING = { arguments: ['arguments'] } as const
/** Tokens around the text of a message. Both contain line breaks. */
const FRAME = /<\|message_sep\|>\n{0,2}|<\/s>/g

/** Parser of GigaChat 3. */
export const gigachat3: ToolParser = {
  name: 'gigachat3',
  sglangNames: ['gigachat3'],
  delimiters,
  parse,
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded),
}

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const nextToken = createFinder(text, delimiters.open)
  const nextHeader = createFinder(text, HEADER)
  const nextOpen = (from: number) => earlierPosition(nextToken(from), nextHeader(from))
  const ends = [MESSAGE_END, '</s>'].map((end) => createFinder(text, end))
  const nextBound = (from: number) => ends.reduce((first, next) => earlierPosition(first, next(from)), nextOpen(from))
  const read = createObjectReader(text, nextBound, 'the call')
  return readCallRuns(shielded, nextOpen, (open): CallRun => {
    const tagEnd = open + (text.startsWith(HEADER, open) ? HEADER : delimiters.open).length
    const start = skipSpace(text, tagEnd, text.length)
    const scan = read(start, () => true)
    if (!scan.ok) {
      const bound = nextBound(Math.max(scan.at, tagEnd))
      const end = bound < 0 ? text.length : bound
      return { calls: [brokenCall(text, { start: open, end }, { why: scan.why, at: scan.at })], end }
    }
    const { call } = objectCall(text, start, scan, SPELLING)
    const { end } = scan
    return { calls: [{ ...call, raw: text.slice(tagEnd, end), text: { start: open, end } }], end }
  })
}
