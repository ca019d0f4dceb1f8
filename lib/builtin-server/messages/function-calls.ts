/**
 * Returns the calls of a text as SGLang's `/parse_function_call` does, but reads them with Rollscope's own parsers. Invalid calls are
 * dropped silently, valid ones are written again. Each of SGLang's parsers has its own habits, which clients see.
 */

import { JsonError } from '#lib/json/json-reader.ts'
import type { ParsedCall, ToolParser } from '#lib/parsers/parser.ts'
import { markupIn } from '#lib/parsers/reading/rest.ts'
import { parserNamed, parserOfServer } from '#lib/parsers/registry.ts'
import { readJson, writeJson } from '#lib/templates/jinja/python/json.ts'
import { strip, trimEnd } from '#lib/templates/jinja/python/text/code-points.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { withCalls } from './chat-message.ts'

/** The answer of /parse_function_call. */
export interface FunctionCalls {
  readonly normal_text: string
  readonly calls: readonly {
    readonly tool_index: number
    readonly name: string
    /** Arguments as JSON. */
    readonly parameters: string
  }[]
}

/** Returns the calls of a text. `parser` is SGLang's name. Undefined for a parser that Rollscope lacks. */
export function functionCalls(text: string, tools: readonly ToolSpec[], parser: string): FunctionCalls | undefined {
  const own = parserNamed(parserOfServer(parser) ?? '')
  if (!own) return undefined
  const names = tools.map(({ name }) => name)
  if (names.length === 0) return { normal_text: text, calls: [] }
  const dialect = DIALECTS[parser] ?? DIALECTS[own.name] ?? USUAL
  if (dialect === 'qwen') {
    const { content, calls } = withCalls(text, names)
    return {
      normal_text: content,
      calls: calls.map(({ name, arguments: written }) => ({
        tool_index: names.indexOf(name),
        name,
        parameters: written,
      })),
    }
  }
  const read = own.parse(text, [], tools).filter((call) => call.kind === 'parsed')
  const knownCalls = read
    .map((call, place) => ({ call, place, tool: names.indexOf(call.name) }))
    .filter(({ tool }) => tool >= 0 || dialect.tools === 'any')
  return {
    normal_text: normalText(text, read, dialect, own),
    calls: knownCalls.map(({ call, place, tool }, index) => ({
      tool_index: { tool, call: index, place }[dialect.index],
      name: call.name,
      parameters: writeJson(argumentsOf(text, call)),
    })),
  }
}

type Parsed = Extract<ParsedCall, { kind: 'parsed' }>

interface Dialect {
  /** Meaning of `tool_index`: the tool in the list, the call among the returned ones, or among all that were read. */
  readonly index: 'tool' | 'call' | 'place'
  readonly tools: 'known' | 'any'
  /** Where calls begin for SGLang, whether or not one can be read there. */
  readonly opens: string | RegExp
  readonly before: 'trimmed' | 'as written'
  readonly behind: 'left out' | 'trimmed' | 'trimmed at the end' | 'as written'
}

const USUAL: Dialect = { index: 'tool', tools: 'known', opens: '<tool_call>', before: 'trimmed', behind: 'left out' }

/** Habits by SGLang's name of the parser, or by ours if all that share it behave alike. */
const DIALECTS: Readonly<Record<string, Dialect | 'qwen'>> = {
  qwen: 'qwen',
  qwen25: 'qwen',
  qwen_xml: { ...USUAL, index: 'call', tools: 'any', before: 'as written' },
  mimo: { ...USUAL, before: 'as written' },
  kimi_k2: { ...USUAL, index: 'call', tools: 'any', opens: '<|tool_calls_section_begin|>', before: 'as written' },
  llama3: { ...USUAL, opens: '<|python_tag|>', before: 'as written', behind: 'trimmed' },
  mistral: { ...USUAL, opens: '[TOOL_CALLS]', behind: 'trimmed' },
  deepseek_v3: { ...USUAL, opens: '<｜tool▁calls▁begin｜>' },
  deepseek_v31: { ...USUAL, opens: '<｜tool▁calls▁begin｜>' },
  deepseek_v32: { ...USUAL, opens: '<｜DSML｜function_calls>' },
  deepseek_v4: { ...USUAL, opens: '<｜DSML｜tool_calls>', before: 'as written' },
  kimi_k3: { ...USUAL, index: 'call', tools: 'any', opens: '<|open|>tools<|sep|>', before: 'as written' },
  muse: { ...USUAL, index: 'call', opens: '<|start|>assistant to=', before: 'as written', behind: 'as written' },
  'gpt-oss': { ...USUAL, index: 'call', opens: '<|channel|>commentary to=' },
  pythonic: { ...USUAL, index: 'place', opens: '[', before: 'as written', behind: 'trimmed at the end' },
  'minimax-m2': { ...USUAL, opens: '<minimax:tool_call>', before: 'as written', behind: 'as written' },
  lfm2: { ...USUAL, opens: '<|tool_call_start|>', index: 'place' },
  cohere_command4: { ...USUAL, opens: '<|START_ACTION|>', before: 'as written' },
  apertus2509: { ...USUAL, index: 'call', opens: '<|tools_prefix|>[', behind: 'trimmed' },
  gigachat3: { ...USUAL, opens: '<|message_sep|>', before: 'as written' },
  hunyuan: { ...USUAL, opens: /<tool_calls(?::opensource)?>/ },
  'minimax-m3': {
    ...USUAL,
    ...{ index: 'call', opens: ']<]minimax[>[<tool_call>', before: 'as written', behind: 'as written' },
  },
  minicpm5: { ...USUAL, opens: '<function', before: 'as written', behind: 'as written' },
  deepseek_v41: { ...USUAL, opens: '<｜DSML｜ calls>', before: 'as written' },
  gigachat35: { ...USUAL, opens: '<｜GCML｜tool_calls>', before: 'as written' },
  step3: { ...USUAL, opens: '<｜tool_calls_begin｜>', before: 'as written', behind: 'as written' },
  dots: { ...USUAL, opens: '<dots_function_call>' },
  iquest_q1: { ...USUAL, opens: '<iquest_tool_call>', before: 'as written', behind: 'as written' },
  k2_horizon: { ...USUAL, index: 'call', opens: /<ifm\|tool_calls?>/, before: 'as written', behind: 'as written' },
  interns1: { ...USUAL, opens: '<|action_start|>' },
  gemma4: { ...USUAL, tools: 'any', opens: '<|tool_call>', before: 'as written' },
}

function normalText(text: string, calls: readonly Parsed[], dialect: Dialect, parser: ToolParser): string {
  const { opens, before, behind } = dialect
  const first = calls[0]?.text.start ?? text.length
  const marker = typeof opens === 'string' ? text.indexOf(opens) : text.search(opens)
  if (marker < 0 && calls.length === 0) return text
  const head = text.slice(0, marker < 0 ? first : Math.min(marker, first))
  const tail = calls.length === 0 || behind === 'left out' ? '' : text.slice(endOfCalls(text, calls, parser))
  const rest = { 'left out': '', trimmed: strip(tail), 'trimmed at the end': trimEnd(tail), 'as written': tail }[behind]
  return (before === 'trimmed' ? strip(head) : head) + rest
}

/** Returns the end of the markup around the last call. */
function endOfCalls(text: string, calls: readonly Parsed[], parser: ToolParser): number {
  const end = calls.at(-1)?.text.end ?? 0
  return markupIn(text, calls, [], parser).findLast(({ start }) => start >= end)?.end ?? end
}

/** Returns the arguments with the spelling of their numbers in the text, because 1.0 is not 1 in Python. */
function argumentsOf(text: string, { arguments: written, input }: Parsed): PyDict {
  const places = new Map(written.map(({ name, text: range }) => [name, range]))
  return PyDict.of(
    Object.entries(input).map(([name, value]): [string, Value] => {
      const range = places.get(name)
      const read = range && typeof value !== 'string' ? jsonAt(text, range) : undefined
      return [name, read ?? readJson(JSON.stringify(value))]
    }),
  )
}

function jsonAt(text: string, { start, end }: { readonly start: number; readonly end: number }): Value | undefined {
  try {
    return readJson(text.slice(start, end))
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}
