/**
 * Decides which divergences of docs/divergences.md, "Tool-call parsers", explain why two parsers read a text
 * differently.
 */
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { thinkBlocks, thinkDelimitersIn } from '../thinking.ts'

/** A call as strands-sglang reads it; without input if it could not parse it. kimi_k2 has an id. */
export interface PythonCall {
  readonly name: string
  readonly input?: unknown
  readonly id?: string
}

/** A part of a text that one parser or both read as calls. */
interface ReadPart {
  readonly text: string
  readonly parser: ToolParser
  readonly ours: readonly ParsedCall[]
  readonly theirs: readonly PlacedCall[]
}

interface PlacedCall {
  readonly call: PythonCall
  readonly range: TextRange
}

/** Compares with `theirs`, which are calls or the exception. Empty means equal, undefined an unexplained difference. */
export function divergencesOf(
  text: string,
  parser: ToolParser,
  ours: readonly ParsedCall[],
  theirs: readonly PythonCall[] | string,
): ReadonlySet<string> | undefined {
  if (typeof theirs === 'string') return ours.some(isBeyondPython) ? new Set([NO_EXCEPTIONS]) : undefined
  const ranges = pythonRanges(text, parser)
  if (ranges.length !== theirs.length) throw new Error(`${ranges.length} places for ${theirs.length} calls`)
  const placed = theirs.map((call, index): PlacedCall => ({ call, range: ranges[index] as TextRange }))
  const names = new Set<string>()
  for (const part of partsReadAsCalls(text, parser, ours, placed)) {
    if (agree(part)) continue
    const name = Object.keys(divergences).find((candidate) => divergences[candidate]?.(part))
    if (name === undefined) return undefined
    names.add(name)
  }
  return names
}

const agree = ({ ours, theirs }: ReadPart): boolean =>
  canonical(ours.map(asPython)) === canonical(theirs.map(({ call }) => call))

const asPython = (call: ParsedCall): PythonCall => ({
  name: call.name ?? 'unknown_tool',
  ...(call.kind === 'parsed' && { input: call.input }),
  ...(call.writtenId !== undefined && { id: call.writtenId }),
})

/** JSON with sorted keys, because JavaScript puts keys that look like numbers first. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

const NO_EXCEPTIONS = 'no-exceptions'

/** Conditions of a part that differs for each reason. The first that applies is the reason. */
const divergences: Readonly<Record<string, (part: ReadPart) => boolean>> = {
  'think-deleted': ({ text, parser, ours, theirs }) =>
    theirs.some(({ range }) => /<think>[\s\S]*?<\/think>/.test(taken(text, range))) ||
    (ours.length === 0 && theirs.every(({ range }) => isShielded(text, parser, range))) ||
    withoutThinks(text).rest.split(SECTION_OPEN).length > text.split(SECTION_OPEN).length,
  'section-needed': ({ text, parser, ours, theirs }) =>
    theirs.length === 0 && ours.every((call) => call.kind === 'malformed' && !isInSection(text, parser, call)),
  'section-unclosed': ({ text, parser, ours, theirs }) =>
    parser.delimiters.section !== undefined &&
    theirs.length === 0 &&
    ours.every((call) => call.kind === 'parsed' && !text.slice(call.text.end).includes(SECTION_CLOSE)),
  'unclosed-call': ({ text, parser, ours, theirs }) =>
    theirs.length === 0 && ours.every((call) => call.kind === 'malformed' && !isClosed(text, parser, call)),
  'kimi-lost-call': ({ parser, ours, theirs }) =>
    parser.name === 'kimi_k2' &&
    theirs.length === 0 &&
    ours.every((call) => /the call has no id|names no tool|_argument_begin\|> is expected/.test(why(call))),
  'good-call-kept': ({ text, parser, ours, theirs }) =>
    theirs.length === 1 && ours.length > 1 && ours.slice(0, -1).some((call) => !isClosed(text, parser, call)),
  'tags-in-values': ({ text, parser, ours, theirs }) =>
    (theirs.length > 0 && ours.length === 1 && ours.every((call) => hasTagInValue(text, call))) ||
    (theirs.length === 0 && ours.every((call) => call.kind === 'parsed' && !isInSection(text, parser, call))),
  'values-end-with-tags': ({ text, parser, ours }) =>
    parser.name === 'qwen_xml' &&
    ours.some(
      (call) => call.kind === 'parsed' && call.arguments.some(({ text: { end } }) => !VALUE_END.test(text.slice(end))),
    ),
  'names-once': pair((call) => /is given twice$/.test(why(call))),
  'parameters-too': pair(
    (call, python) => /"parameters"/.test(call.raw) && canonical(python.input) === '{}' && call.name === python.name,
  ),
  'no-text-as-arguments': pair(
    (call, python) => /not a JSON object/.test(why(call)) && canonical(python.input) === '{}',
  ),
  nesting: pair((call) => /nested deeper than 128 levels$/.test(why(call))),
  'whole-numbers': pair(
    (call, python) => isNamed(call, python) && canonical(inputOf(call)) === canonical(asDoubles(python.input)),
  ),
  'numbers-of-json': pair((call, python) => OTHER_NUMBER.test(call.raw) && isEqualButForNumbers(call, python)),
  'names-of-malformed': pair((call, python) => call.kind === 'malformed' && python.input === undefined),
  'white-space-kept': pair(
    (call, python) => isNamed(call, python) && canonical(strippedAndDecoded(inputOf(call))) === canonical(python.input),
  ),
  'kimi-names': pair(
    (call, python) =>
      /^functions\.|:\d+$/.test(call.writtenId ?? '') && python.id === call.writtenId && python.name !== call.name,
  ),
  'names-one-word': pair((call, python) => /name/.test(why(call)) && /^$|[\s<]/.test(python.name)),
  'names-not-blank': pair((call) => /is not followed by a name$/.test(why(call))),
  'values-closed': pair((call) => /^the value of ".*" is not closed$/.test(why(call))),
  'white-space-of-json': pair(
    (call, python) =>
      OTHER_SPACE.test(call.raw) && (call.kind === 'malformed' || strip(call.name) === strip(python.name)),
  ),
  'nothing-between-tags': pair((call) => /^(?:.* where <.* is expected|<.* is not closed by ">")$/s.test(why(call))),
}

/** Names of all divergences. */
export const divergenceNames: readonly string[] = [NO_EXCEPTIONS, ...Object.keys(divergences)]

/** Applies a condition to one call of each parser at the same position. */
function pair(holds: (ours: ParsedCall, theirs: PythonCall) => boolean): (part: ReadPart) => boolean {
  return ({ ours: [call, ...more], theirs: [python, ...others] }) =>
    call !== undefined && python !== undefined && more.length + others.length === 0 && holds(call, python.call)
}

// The conditions below concern our result.

const why = (call: ParsedCall): string => (call.kind === 'malformed' ? call.why : '')

const isNamed = (call: ParsedCall, python: PythonCall): boolean =>
  call.kind === 'parsed' && call.name === python.name && call.writtenId === python.id

const inputOf = (call: ParsedCall): unknown => (call.kind === 'parsed' ? call.input : undefined)

const isBeyondPython = (call: ParsedCall): boolean =>
  /nested deeper than 128 levels$|larger than any that can be represented$/.test(why(call))

const isClosed = (text: string, { delimiters }: ToolParser, call: ParsedCall): boolean =>
  taken(text, call.text).endsWith(delimiters.close)

const hasTagInValue = (text: string, call: ParsedCall): boolean =>
  call.kind === 'parsed' &&
  call.arguments.some((argument) =>
    /<\/tool_call>|<\/function>|<\|tool_call_end\|>|<\|tool_calls_section_end\|>/.test(taken(text, argument.text)),
  )

const isShielded = (text: string, { delimiters }: ToolParser, range: TextRange): boolean =>
  thinkBlocks(text, thinkDelimitersIn(text), false, delimiters).some((block) => overlap(block, range))

const isInSection = (text: string, parser: ToolParser, call: ParsedCall): boolean =>
  parser.delimiters.section === undefined ||
  pythonSections(text).some(({ start, end }) => start <= call.text.start && call.text.end <= end)

// The functions below compare values.

const OTHER_NUMBER = /NaN|Infinity|\de\d{3}|\d{309}/

/**
 * Returns whether Python has a number that JSON or JavaScript lacks, where we have a text, or a malformed call if a
 * text is not allowed.
 */
function isEqualButForNumbers(call: ParsedCall, python: PythonCall): boolean {
  if (call.kind === 'malformed') return true
  if (!isNamed(call, python)) return false
  const theirs = Object(python.input) as Record<string, unknown>
  return Object.entries(call.input).every(
    ([name, value]) =>
      canonical(value) === canonical(theirs[name]) || (typeof value === 'string' && OTHER_NUMBER.test(value)),
  )
}

/** The golden file writes numbers that JSON.parse would change as {"$number": "…"}. */
function asDoubles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asDoubles)
  if (typeof value !== 'object' || value === null) return value
  const written = (value as { $number?: string }).$number
  return written === undefined
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asDoubles(part)]))
    : Number(written)
}

const VALUE_END = /^\n?<\/parameter>/

/** Characters that Python's str.strip removes and that its patterns match as white space. */
const PYTHON_SPACE = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const OTHER_SPACE = new RegExp(`(?![ \\t\\r\\n])[${PYTHON_SPACE}\\ufeff]`)

const strip = (text = ''): string =>
  text.replace(new RegExp(`^[${PYTHON_SPACE}\\ufeff]+|[${PYTHON_SPACE}\\ufeff]+$`, 'g'), '')

/** Converts texts to values as strands-sglang does. */
function strippedAndDecoded(input: unknown): unknown {
  return Object.fromEntries(
    Object.entries(Object(input)).map(([name, value]) => [
      name,
      typeof value === 'string' ? decoded(strip(value)) : value,
    ]),
  )
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// The functions below find calls as strands-sglang does: it deletes closed think blocks and then applies its patterns.

function pythonRanges(text: string, { delimiters, name }: ToolParser): readonly TextRange[] {
  const { rest, placeOf } = withoutThinks(text)
  const within = name === 'kimi_k2' ? matches(rest, SECTION).map(inside) : [{ start: 0, end: rest.length }]
  const call = name === 'kimi_k2' ? KIMI_CALL : new RegExp(`${delimiters.open}[\\s\\S]*?${delimiters.close}`, 'g')
  return within.flatMap(({ start, end }) =>
    matches(rest.slice(start, end), call).map((found) => ({
      start: placeOf(start + found.start),
      end: placeOf(start + found.end - 1) + 1,
    })),
  )
}

const SECTION_OPEN = '<|tool_calls_section_begin|>'
const SECTION_CLOSE = '<|tool_calls_section_end|>'
const SECTION = /<\|tool_calls_section_begin\|>[\s\S]*?<\|tool_calls_section_end\|>/g
const KIMI_CALL = new RegExp(
  `<\\|tool_call_begin\\|>[${PYTHON_SPACE}]*[^<${PYTHON_SPACE}]+[${PYTHON_SPACE}]*<\\|tool_call_argument_begin\\|>[\\s\\S]*?<\\|tool_call_end\\|>`,
  'g',
)

const inside = ({ start, end }: TextRange): TextRange => ({
  start: start + SECTION_OPEN.length,
  end: end - SECTION_CLOSE.length,
})

function pythonSections(text: string): readonly TextRange[] {
  const { rest, placeOf } = withoutThinks(text)
  return matches(rest, SECTION).map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end - 1) + 1 }))
}

/** Returns the text without closed think blocks, and the original positions of its characters. */
function withoutThinks(text: string): { readonly rest: string; readonly placeOf: (offset: number) => number } {
  const places: number[] = []
  let from = 0
  for (const { start, end } of [
    ...matches(text, /<think>[\s\S]*?<\/think>/g),
    { start: text.length, end: text.length },
  ]) {
    for (let place = from; place < start; place++) places.push(place)
    from = end
  }
  return { rest: places.map((place) => text[place]).join(''), placeOf: (offset) => places[offset] as number }
}

const matches = (text: string, pattern: RegExp): TextRange[] =>
  Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({ start: index, end: index + found.length }))

/** Groups calls of the two parsers that overlap directly or through others. */
function partsReadAsCalls(
  text: string,
  parser: ToolParser,
  ours: readonly ParsedCall[],
  theirs: readonly PlacedCall[],
): readonly ReadPart[] {
  const found = [
    ...ours.map((call) => ({ range: call.text, ours: [call], theirs: [] as PlacedCall[] })),
    ...theirs.map((call) => ({ range: call.range, ours: [] as ParsedCall[], theirs: [call] })),
  ].sort((a, b) => a.range.start - b.range.start)
  const joined: typeof found = []
  for (const next of found) {
    const last = joined.at(-1)
    if (last && overlap(last.range, next.range))
      joined[joined.length - 1] = {
        range: { start: last.range.start, end: Math.max(last.range.end, next.range.end) },
        ours: [...last.ours, ...next.ours],
        theirs: [...last.theirs, ...next.theirs],
      }
    else joined.push(next)
  }
  return joined.map((part) => ({ text, parser, ours: part.ours, theirs: part.theirs }))
}

const overlap = (a: TextRange, b: TextRange): boolean => a.start < b.end && b.start < a.end

const taken = (text: string, { start, end }: TextRange): string => text.slice(start, end)
