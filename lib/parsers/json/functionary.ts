/**
 * Functionary 3.2: a reply consists of messages, each with its recipient on a line: `>>>NAME\n{…}` calls a tool,
 * `>>>all\n` is text. The prompt ends with the first `>>>`. A line without a known tool and without an object after it
 * is text. Functionary 3.1, and Llama 3.1 with a prompt that requests it, write `<function=NAME>{…}</function>`.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { earlierPosition } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'
import { createObjectReader } from '../reading/json-body.ts'
import { brokenCall } from '../reading/object-call.ts'
import { markupOf } from '../reading/rest.ts'
import { type CallRun, readCallRuns } from '../reading/runs.ts'

const OPEN = '>>>'
/** Ends a turn, and so a malformed call. */
const TURN_END = '<|eo'
const RECIPIENT = /(?:>>>|^)([^\s<>{}[\]"']+)\n/g
const TEXT = /(?:>>>|^)all\n/g

/** Parser of Functionary 3.1. */
export const functionaryV31: ToolParser = headedParser({
  name: 'functionary_v31',
  delimiters: { open: '<function=', close: '</function>' },
  readHead: nameBefore('>', /[<>\s]/g, '">"'),
})

/** Parser of Functionary 3.2. */
export const functionaryV32: ToolParser = {
  name: 'functionary_v32',
  delimiters: { open: OPEN, close: '' },
  parse,
  markup: (text, calls, shielded) => markupOf(text, TEXT, calls, shielded),
}

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const names = new Set(tools.map(({ name }) => name))
  const headers = new Map<number, { readonly name: string; readonly end: number }>()
  for (const { 0: header, 1: name = '', index } of text.matchAll(RECIPIENT)) {
    const end = index + header.length
    const isCall = names.has(name) || text[skipSpace(text, end, text.length)] === '{'
    if (name !== 'all' && isCall) headers.set(index, { name, end })
  }
  const opens = [...headers.keys()]
  let next = 0
  const nextOpen = (from: number) => {
    while ((opens[next] ?? Infinity) < from) next++
    return opens[next] ?? -1
  }
  const nextMessage = createFinder(text, OPEN)
  const nextTurnEnd = createFinder(text, TURN_END)
  const nextBound = (from: number) => earlierPosition(nextMessage(from), nextTurnEnd(from))
  const read = createObjectReader(text, nextBound, 'what follows the name')
  return readCallRuns(shielded, nextOpen, (open): CallRun => {
    const { name, end } = headers.get(open) as { readonly name: string; readonly end: number }
    const nameStart = end - 1 - name.length
    const scan = read(end, () => true)
    if (!scan.ok) {
      const bound = nextBound(Math.max(scan.at, end))
      const range = { start: open, end: bound < 0 ? text.length : bound }
      return { calls: [brokenCall(text, range, { why: scan.why, at: scan.at, name })], end: range.end }
    }
    const call: ParsedCall = {
      kind: 'parsed',
      name,
      nameText: { start: nameStart, end: end - 1 },
      ignored: [],
      input: JSON.parse(text.slice(end, scan.end)) as Record<string, unknown>,
      arguments: scan.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
      raw: text.slice(nameStart, scan.end),
      text: { start: open, end: scan.end },
    }
    return { calls: [call], end: scan.end }
  })
}
