/**
 * Llama 3.1 to 3.3: `<|python_tag|>{"name": …, "parameters": {…}}`, several with `;` between them; or only the object
 * at the start of the reply. "arguments" is accepted too. Meta's template of Llama 4 writes the content before the object:
 * `<|python_start|>content<|python_end|>{…}`.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { CallMarkup, ParsedCall, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { type CallFault, earlierPosition } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { type CompleteObject, createObjectReader } from '../reading/json-body.ts'
import { jsonAt, memberNamed } from '../reading/named-call.ts'
import { brokenCall, objectCall } from '../reading/object-call.ts'
import { type CallRun, markupOfRuns, readCallRuns } from '../reading/runs.ts'

const delimiters = { open: '<|python_tag|>', close: '' } as const
const SPELLING = { arguments: ['parameters', 'arguments'] } as const
/** <|eot_id|> or <|eom_id|>, which ends a malformed call. */
const TURN_END = '<|eo'
const BETWEEN = /\s*[;,]?\s*/y
const CONTENT = { open: '<|python_start|>', close: '<|python_end|>' } as const

/** Parser of Llama 3.1 to 3.3. */
export const llama3: ToolParser = { name: 'llama3', sglangNames: ['llama3'], delimiters, parse, markup }

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const nextTag = createFinder(text, delimiters.open)
  const nextTurnEnd = createFinder(text, TURN_END)
  const nextBound = (from: number) => earlierPosition(nextTag(from), nextTurnEnd(from))
  const read = createObjectReader(text, nextBound, 'the call')
  const { at: bare } = bareStart(text, shielded)
  const nextOpen = (from: number) =>
    from <= bare && text[bare] === '{' ? earlierPosition(bare, nextTag(from)) : nextTag(from)
  return readCallRuns(shielded, nextOpen, readRun)

  function readRun(open: number): CallRun {
    const isTagged = text.startsWith(delimiters.open, open)
    const calls: ParsedCall[] = []
    let end = isTagged ? open + delimiters.open.length : open
    let start = skipSpace(text, end, text.length)
    while (calls.length === 0 || text[start] === '{') {
      const scan = read(start, () => true)
      if (!isTagged && !isCall(text, start, scan.ok ? scan : undefined, tools)) break
      const from = calls.length === 0 && isTagged && !scan.ok ? open : start
      const call = scan.ok ? objectCall(text, start, scan, SPELLING).call : faulty(from, scan)
      calls.push(call)
      end = call.text.end
      if (!scan.ok) break
      BETWEEN.lastIndex = end
      BETWEEN.test(text)
      start = BETWEEN.lastIndex
    }
    return { calls, end: Math.max(end, open + 1) }
  }

  function faulty(start: number, { why, at }: CallFault): ParsedCall {
    const bound = nextBound(at)
    return brokenCall(text, { start, end: bound < 0 ? text.length : bound }, { why, at })
  }
}

interface BareStart {
  readonly at: number
  /** The tokens around the content before it, in a reply of Llama 4. */
  readonly content?: readonly [open: TextRange, close: TextRange]
}

/** Returns where a call without a tag may start: after the thinking, and after the content of Llama 4. */
function bareStart(text: string, shielded: readonly TextRange[]): BareStart {
  let at = skipSpace(text, 0, text.length)
  for (const { start, end } of shielded) if (start <= at && at < end) at = skipSpace(text, end, text.length)
  const close = text.startsWith(CONTENT.open, at) ? text.indexOf(CONTENT.close, at) : -1
  if (close < 0) return { at }
  const end = skipSpace(text, close + CONTENT.close.length, text.length)
  return {
    at: end,
    content: [
      { start: at, end: at + CONTENT.open.length },
      { start: close, end },
    ],
  }
}

const BROKEN = /\{\s*["']name["']\s*:/y

/** Returns whether a bare object is a call: it has a name and arguments, or names a tool. Other JSON is an answer. */
function isCall(text: string, start: number, object: CompleteObject | undefined, tools: readonly ToolSpec[]): boolean {
  if (!object) {
    BROKEN.lastIndex = start
    return BROKEN.test(text)
  }
  const name = memberNamed(object.members, 'name')
  const called = name && jsonAt(text, name)
  if (SPELLING.arguments.some((key) => memberNamed(object.members, key))) return typeof called === 'string'
  return tools.some((tool) => tool.name === called)
}

function markup(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly CallMarkup[] {
  const { at: bare, content } = bareStart(text, shielded)
  const tags = Array.from(text.matchAll(/<\|python_tag\|>[ \t\n\r]*/g), ({ 0: tag, index }) => ({
    start: index,
    end: index + tag.length,
  }))
  const opens = [content?.[1] ?? { start: bare, end: bare }, ...tags].sort((a, b) => a.start - b.start)
  const markup = markupOfRuns(calls, shielded, text, { opens, between: BETWEEN, mayBeEmpty: false })
  return content && calls[0]?.text.start === bare ? [{ kind: 'between', ...content[0] }, ...markup] : markup
}
