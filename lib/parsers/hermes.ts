/** Hermes: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, as Qwen2.5, Qwen3 and many others write it. */
import { finder } from './finder.ts'
import { type Member, type ObjectScan, scanObject, skipSpace } from './json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'

export const hermes: ToolParser = { name: 'hermes', delimiters: { open: OPEN, close: CLOSE }, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const calls: ParsedCall[] = []
  const nextClose = finder(text, CLOSE)
  const nextOpen = finder(text, OPEN)
  // A body that is cut inside a string may go on: its delimiter is then text of an argument. Reading on costs what the
  // rest of the text is long, so it is bounded over the whole parse.
  let readingOn = 2 * text.length
  let shield = 0
  for (let open = nextOpen(0); open >= 0; ) {
    while ((shielded[shield]?.end ?? Infinity) <= open) shield++
    const block = shielded[shield]
    if (block && block.start <= open) {
      open = nextOpen(block.end)
      continue
    }
    const start = open + OPEN.length
    const close = nextClose(start)
    const scan = scanBody(text, start, close < 0 ? text.length : close)
    let call = scan.ok ? closedCall(text, open, scan) : undefined
    if (!scan.ok && scan.insideString && close >= 0 && readingOn > 0) {
      const longer = scanBody(text, start, text.length)
      readingOn -= (longer.ok ? longer.end : longer.at) - close
      call = longer.ok ? closedCall(text, open, longer) : undefined
    }
    call ??= malformedCall(text, open, scan, close, nextOpen)
    calls.push(call)
    open = nextOpen(call.text.end)
  }
  return calls
}

function scanBody(text: string, start: number, limit: number): ObjectScan {
  const brace = skipSpace(text, start, limit)
  if (brace < limit && text[brace] === '{') return scanObject(text, brace, limit)
  return {
    ok: false,
    at: brace,
    why:
      brace < limit
        ? `the call is not a JSON object: it starts with ${JSON.stringify(text[brace])}`
        : 'the call is empty',
    insideString: false,
  }
}

/** The call, when its delimiter follows; undefined when something else does. */
function closedCall(text: string, open: number, scan: Extract<ObjectScan, { ok: true }>): ParsedCall | undefined {
  const close = skipSpace(text, scan.end, text.length)
  if (!text.startsWith(CLOSE, close)) return undefined
  const place = { raw: text.slice(open + OPEN.length, close), text: { start: open, end: close + CLOSE.length } }
  const nameMember = lastNamed(scan.members, 'name')
  const name = nameMember && jsonAt(text, nameMember)
  if (typeof name !== 'string' || name.trim() === '')
    return {
      kind: 'malformed',
      why: nameMember ? '"name" is not a text' : 'the call has no "name"',
      at: nameMember?.value.start ?? open,
      ...place,
    }
  const argumentsMember = lastNamed(scan.members, 'arguments')
  if (!argumentsMember) return { kind: 'parsed', name, input: {}, arguments: [], ...place }
  const { start, end } = argumentsMember.value
  const inner = text[start] === '{' ? scanObject(text, start, end) : undefined
  if (!inner?.ok) return { kind: 'malformed', name, why: '"arguments" is not a JSON object', at: start, ...place }
  return {
    kind: 'parsed',
    name,
    input: jsonAt(text, argumentsMember) as Record<string, unknown>,
    arguments: inner.members.map((member) => ({ name: member.name, text: member.value })),
    ...place,
  }
}

/** It ends at its delimiter, or where the next call opens, whichever comes first after the place where it went wrong. */
function malformedCall(
  text: string,
  open: number,
  scan: ObjectScan,
  close: number,
  nextOpen: (from: number) => number,
): ParsedCall {
  const start = open + OPEN.length
  const readTo = scan.ok ? scan.end : scan.at
  const otherOpen = nextOpen(readTo)
  const isClosed = close >= 0 && (otherOpen < 0 || close < otherOpen)
  const bodyEnd = isClosed ? close : otherOpen < 0 ? text.length : otherOpen
  const name = nameIn(text, start, bodyEnd)
  const why = scan.ok
    ? isClosed
      ? `something stands between the JSON and ${CLOSE}`
      : `the call is not closed: no ${CLOSE} follows`
    : scan.insideString
      ? 'a string is not closed'
      : scan.why
  return {
    kind: 'malformed',
    ...(name !== undefined && { name }),
    why,
    at: Math.min(readTo, bodyEnd),
    raw: text.slice(start, bodyEnd),
    text: { start: open, end: isClosed ? close + CLOSE.length : bodyEnd },
  }
}

const NAME = /"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/y

/** The name of a call that could not be read whole, for the error that the model gets. Looks at its first lines only. */
function nameIn(text: string, start: number, end: number): string | undefined {
  const at = text.slice(start, Math.min(end, start + 400)).indexOf('"name"')
  if (at < 0) return undefined
  NAME.lastIndex = start + at
  const match = NAME.exec(text)
  return match && NAME.lastIndex <= end ? match[1] : undefined
}

/** Of members with the same name the last one counts, as in JSON.parse and in Python. */
const lastNamed = (members: readonly Member[], name: string): Member | undefined =>
  members.findLast((member) => member.name === name)

const jsonAt = (text: string, { value }: Member): unknown => JSON.parse(text.slice(value.start, value.end))
