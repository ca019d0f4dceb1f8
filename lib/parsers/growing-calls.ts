/**
 * The calls of a reply that is still written: the name as soon as it is whole, then the arguments as they grow. Formats with JSON grow by
 * character, formats with tags by argument. Other formats are read when the reply has ended.
 */
import { decidedJson } from '#lib/json/decided-json.ts'
import { skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { TextRange, ToolParser } from './parser.ts'
import { compactArguments } from './reading/written-arguments.ts'

/** A call that a reply has begun. */
export interface GrowingCall {
  readonly name: string
  /** Beginning of the compact JSON of the arguments; all of it if the call has ended. */
  readonly arguments: string
  readonly hasEnded: boolean
}

/** What a reply has written so far. */
export interface GrowingReply {
  readonly text: string
  /** Offset of the first call. */
  readonly start: number
  readonly shielded: readonly TextRange[]
  readonly tools: readonly ToolSpec[]
}

/** Returns the calls that follow each other from a position on. A call can still turn out to be malformed. */
export function growingCalls(parser: ToolParser, reply: GrowingReply): readonly GrowingCall[] {
  const json = JSON_FORMATS[parser.name]
  const calls = json ? jsonCalls(json, reply) : []
  const tags = TAG_FORMATS[parser.name]
  return tags && calls.length === 0 ? taggedCalls(parser, tags, reply) : calls
}

/**
 * Returns whether a text may begin with a call or a header that has no delimiter before it, as some formats write the first message of a
 * reply.
 */
export const mayBeMarkup = ({ name }: Pick<ToolParser, 'name'>, text: string): boolean =>
  BARE[name]?.test(text) ?? false

const BARE: Readonly<Record<string, RegExp>> = {
  llama3: /^\{/,
  'gpt-oss': /^(?:t|to|to=.*)$/s,
  xlam: /^\[/,
  muse: /^(?:assistant)?\s*(?:t|to|to=[^<]*)?$/,
  hyperclovax: /^\/(?:t(?:h(?:i(?:nk?)?)?)?)?$/,
  functionary_v32: /^[^\s<>{}[\]"']*(?:\n|$)/,
}

interface JsonFormat {
  /** What precedes the arguments, with the name as its group. Sticky. */
  readonly head: RegExp
  /** What follows the arguments, up to the next head. Sticky. */
  readonly after: RegExp
}

function jsonCalls({ head, after }: JsonFormat, { text, start }: GrowingReply): readonly GrowingCall[] {
  const calls: GrowingCall[] = []
  for (let at = start; ; ) {
    head.lastIndex = at
    const name = nameIn(head.exec(text))
    if (name === undefined) return calls
    const { json, end } = decidedJson(text, head.lastIndex)
    after.lastIndex = end ?? text.length
    const isClosed = after.test(text)
    // Another member may have the arguments if these are empty.
    const isOpen = end === undefined || (json === '{}' && !isClosed)
    calls.push({ name, arguments: isOpen && json === '{}' ? '{' : json, hasEnded: !isOpen })
    if (isOpen || !isClosed) return calls
    at = after.lastIndex
  }
}

/** Returns the name of a head: as it is, or as JSON. */
function nameIn(head: RegExpExecArray | null): string | undefined {
  const { plain, quoted } = head?.groups ?? {}
  return quoted === undefined ? plain : (JSON.parse(quoted) as string)
}

const QUOTED = '(?<quoted>"(?:[^"\\\\\\p{Cc}]|\\\\(?:["\\\\/bfnrt]|u[\\da-fA-F]{4}))+")'

/** Returns the format of calls that are objects, between these patterns. The first one may precede only the first call. */
const objects = (before: string, after: string, name = 'name', id = ''): JsonFormat => ({
  head: new RegExp(
    `${before}\\s*\\{\\s*${id}"${name}"\\s*:\\s*${QUOTED}\\s*,\\s*"(?:arguments|parameters)"\\s*:\\s*(?=\\{)`,
    'yu',
  ),
  after: new RegExp(`\\s*\\}${after}`, 'yu'),
})

/** Returns the format of calls with the name before the arguments. */
const headed = (head: string, after: string): JsonFormat => ({
  head: new RegExp(`${head}\\s*(?=\\{)`, 'yu'),
  after: new RegExp(`\\s*${after}\\s*`, 'yu'),
})

const COMMA = '\\s*,\\s*'
const PLAMO_BEGIN = '<\\|plamo:begin_'
const PLAMO_END = '<\\|plamo:end_'
const DEEPSEEK = '(?:<｜tool▁calls▁begin｜>\\s*)?<｜tool▁call▁begin｜>'

const JSON_FORMATS: Readonly<Record<string, JsonFormat>> = {
  hermes: objects('<tool_call>', '\\s*</tool_call>\\s*'),
  inkling: {
    head: new RegExp(
      `<\\|content_invoke_tool_json\\|>\\s*\\{\\s*"name"\\s*:\\s*${QUOTED}\\s*,\\s*"args"\\s*:\\s*(?=\\{)`,
      'yu',
    ),
    after: /\s*\}\s*<\|end_message\|>(?:<\|message_model\|>[^<]*)?/y,
  },
  plamo3: headed(
    `(?:${PLAMO_BEGIN}tool_requests:plamo\\|>\\s*)?${PLAMO_BEGIN}tool_request:plamo\\|>${PLAMO_BEGIN}tool_name:plamo\\|>\\s*(?<plain>[^<\\s](?:[^<]*[^<\\s])?)\\s*${PLAMO_END}tool_name:plamo\\|>${PLAMO_BEGIN}tool_arguments:plamo\\|><\\|plamo:constrain\\|>json<\\|plamo:msg\\|>`,
    `${PLAMO_END}tool_arguments:plamo\\|>${PLAMO_END}tool_request:plamo\\|>`,
  ),
  longcat: objects('<longcat_tool_call>', '\\s*</longcat_tool_call>\\s*'),
  grug: objects('<\\|tool_call\\|>', '\\s*<\\|tool_call_end\\|>\\s*'),
  interns1: objects('<\\|action_start\\|>\\s*<\\|plugin\\|>', '\\s*<\\|action_end\\|>\\s*'),
  llama3: objects('(?:<\\|python_tag\\|>)?', '\\s*[;,]?\\s*'),
  mistral: {
    head: new RegExp(
      `(?:${objects('(?:\\[TOOL_CALLS\\]\\s*\\[)?', '').head.source}|\\[TOOL_CALLS\\]\\s*(?<plain>[^[{<\\s]+)\\s*(?:\\[CALL_ID\\][^[{<\\s]*\\s*)?(?:\\[ARGS\\]\\s*)?(?=\\{))`,
      'yu',
    ),
    // The compact form has neither a bracket nor a comma.
    after: /\s*(?:\}\s*,\s*)?/y,
  },
  cohere_command4: objects(
    '(?:<\\|START_ACTION\\|>\\s*\\[)?',
    COMMA,
    'tool_name',
    '(?:"tool_call_id"\\s*:\\s*"[^"]*"\\s*,\\s*)?',
  ),
  command_r: objects('(?:Action:\\s*```json\\s*\\[)?', COMMA, 'tool_name'),
  apertus2509: {
    head: new RegExp(`(?:<\\|tools_prefix\\|>\\s*\\[)?\\s*\\{\\s*${QUOTED}\\s*:\\s*(?=\\{)`, 'yu'),
    after: new RegExp(`\\s*\\}${COMMA}`, 'yu'),
  },
  gigachat3: objects('(?:<\\|function_call\\|>|function call<\\|role_sep\\|>)', '\\s*'),
  tool_calls: objects('(?:<tool_calls>\\s*\\[?)?', '\\s*,?\\s*'),
  nemotron: objects('(?:<TOOLCALL>\\s*\\[?)?', '\\s*,?\\s*'),
  falcon3: objects('(?:<tool_call>\\s*\\[)?', COMMA),
  granite: objects('(?:<\\|tool_call\\|>\\s*\\[)?', COMMA),
  granite_20b_fc: objects('<function_call>', '\\s*'),
  phi4_mini: objects('(?:functools\\s*\\[)?', COMMA),
  kimi_k2: headed(
    '(?:<\\|tool_calls_section_begin\\|>\\s*)?<\\|tool_call_begin\\|>\\s*(?:functions\\.)?(?<plain>[^<\\s]+?)(?::\\d+)?\\s*<\\|tool_call_argument_begin\\|>',
    '<\\|tool_call_end\\|>',
  ),
  deepseek_v3: headed(`${DEEPSEEK}[^<]*<｜tool▁sep｜>(?<plain>[^<\\s]+)\\n\`\`\`json\\n`, '\\n```<｜tool▁call▁end｜>'),
  deepseek_v31: headed(`${DEEPSEEK}\\s*(?<plain>[^<\\s]+)\\s*<｜tool▁sep｜>`, '<｜tool▁call▁end｜>'),
  'gpt-oss': headed(
    '(?:<\\|start\\|>\\s*assistant\\s*)?(?:<\\|channel\\|>\\s*commentary\\s+)?to=(?:functions\\.)?(?<plain>[^\\s<]+)(?:[^<{]|<\\|(?:channel|constrain)\\|>)*<\\|message\\|>',
    '<\\|call\\|>',
  ),
  functionary_v31: headed('<function=(?<plain>[^<>\\s]+)>', '</function>'),
  functionary_v32: headed('(?:>>>)?(?<plain>[^\\s<>{}[\\]"\']+)\\n', ''),
  solar_open: headed(
    '(?:<\\|tool_calls\\|>\\s*)?<\\|tool_call:begin\\|>[^<]*<\\|tool_call:name\\|>(?<plain>[^<]*[^<\\s][^<]*)<\\|tool_call:args\\|>',
    '<\\|tool_call:end\\|>',
  ),
  hunyuan_fenced: headed('(?:<tool_calls>\\s*)?<tool_call>\\s*(?<plain>[^<`\\s]+)\\s*```json\\n', '\\n```</tool_call>'),
  step_audio: headed('<\\|CALL_START\\|>function\\n\\s*(?<plain>[^<{\\s]+)', '<\\|CALL_END\\|>'),
  xlam: objects('\\[?', COMMA),
  hyperclovax: objects('(?:-> tool/function_call\\s*\\[)?', COMMA),
}

interface TagFormat {
  /** What precedes the first argument, with the name as its group. Sticky. */
  readonly head: RegExp
  /** The tag that closes an argument. */
  readonly closeArgument: string
  /** What follows the last argument. */
  readonly closeCall: string
  /** What follows the last call. */
  readonly closeSection?: string
}

function taggedCalls(
  parser: ToolParser,
  { head, closeArgument, closeCall, closeSection = '' }: TagFormat,
  { text, start, shielded, tools }: GrowingReply,
): readonly GrowingCall[] {
  const calls: GrowingCall[] = []
  /** Returns the last call of a text that is closed here. */
  const callAt = (end: number): Pick<GrowingCall, 'name' | 'arguments'> | undefined => {
    const closed = text.slice(0, end) + closeCall + closeSection
    const call = parser.parse(closed, shielded, tools).at(-1)
    return call?.kind === 'parsed' ? { name: call.name, arguments: compactArguments(call, closed) } : undefined
  }
  for (let at = start; ; ) {
    head.lastIndex = at
    if (!head.test(text)) return calls
    let end = head.lastIndex
    for (;;) {
      const next = skipSpace(text, end, text.length)
      if (text.startsWith(closeCall, next)) break
      const close = text.indexOf(closeArgument, next)
      if (close < 0) {
        const call = callAt(end)
        return call ? [...calls, { ...call, arguments: call.arguments.slice(0, -1), hasEnded: false }] : calls
      }
      end = close + closeArgument.length
    }
    const call = callAt(end)
    if (!call) return calls
    calls.push({ ...call, hasEnded: true })
    at = skipSpace(text, skipSpace(text, end, text.length) + closeCall.length, text.length)
  }
}

const invoked = (section: string, call: string): RegExp =>
  new RegExp(`(?:<${section}>\\s*)?<${call}\\s+name="\\s*(?<plain>[^"\\s]+)\\s*"\\s*>`, 'yu')

function keyed(suffix: string, tag = 'tool_call', prefix = ''): TagFormat {
  const named = (name: string): string => `${prefix}${name}${suffix}>`
  const pattern = (name: string): string => named(name).replace('|', '\\|')
  return {
    head: new RegExp(
      `(?:<${pattern('tool_calls')}\\s*)?<${pattern(tag)}\\s*(?<plain>[^<{\\s][^<\\s]*)\\s*(?:<${pattern('tool_sep')}\\s*)?(?=<${pattern('arg_key')}|</${pattern(tag)})`,
      'yu',
    ),
    closeArgument: `</${named('arg_value')}`,
    closeCall: `</${named(tag)}`,
  }
}

const qwen = (tag: string): TagFormat => ({
  head: new RegExp(`(?:</${tag}>\\s*)?<${tag}>\\s*<function=\\s*(?<plain>[^<>\\s]+)\\s*>`, 'yu'),
  closeArgument: '</parameter>',
  closeCall: '</function>',
  closeSection: `</${tag}>`,
})

/** Returns the format with this mark before the names of its tags. */
const dsml = (mark: string, block: string): TagFormat => invokes(mark + block, mark)

const invokes = (section: string, prefix = ''): TagFormat => ({
  head: invoked(section, `${prefix}invoke`),
  closeArgument: `</${prefix}parameter>`,
  closeCall: `</${prefix}invoke>`,
  closeSection: `</${section}>`,
})

const TAG_FORMATS: Readonly<Record<string, TagFormat>> = {
  qwen_xml: qwen('tool_call'),
  seed_oss: qwen('seed:tool_call'),
  mimo: qwen('tool_call'),
  frogboss: { head: /<function=\s*(?<plain>[^<>\s]+)\s*>/y, closeArgument: '</parameter>', closeCall: '</function>' },
  zaya: qwen('zyphra_tool_call'),
  glm: keyed(''),
  hunyuan: keyed(':opensource'),
  iquest_q1: keyed('', 'iquest_tool_call'),
  k2_horizon: keyed('', 'tool_call', 'ifm|'),
  longcat: keyed('', 'tool_call', 'longcat_'),
  solar_open2: {
    head: /<\|tool_call:start\|>\s*(?<plain>[^<\s]+)\s*(?=<\|tool_arg:start\||<\|tool_call:end\|)/y,
    closeArgument: '<|tool_arg:end|>',
    closeCall: '<|tool_call:end|>',
  },
  deepseek_v32: dsml('｜DSML｜', 'function_calls'),
  deepseek_v4: dsml('｜DSML｜', 'tool_calls'),
  deepseek_v41: dsml('｜DSML｜ ', 'calls'),
  gigachat35: dsml('｜GCML｜', 'tool_calls'),
  'minimax-m2': invokes('minimax:tool_call'),
  dots: invokes('dots_function_call'),
  muse: invokes('atem:function_calls', 'atem:'),
  step3: {
    head: /(?:<｜tool_call_end｜>\s*)?(?:<｜tool_calls_begin｜>\s*)?<｜tool_call_begin｜>[^<]*<｜tool_sep｜>\s*<steptml:invoke\s+name="\s*(?<plain>[^"\s]+)\s*"\s*>/y,
    closeArgument: '</steptml:parameter>',
    closeCall: '</steptml:invoke>',
    closeSection: '<｜tool_calls_end｜>',
  },
  minicpm5: {
    head: /<function\s+name="\s*(?<plain>[^"\s]+)\s*"\s*>/y,
    closeArgument: '</param>',
    closeCall: '</function>',
  },
  kimi_k3: {
    head: /(?:<\|open\|>tools<\|sep\|>\s*)?<\|open\|>call\s+tool="(?<plain>[^"\s&]+)"(?:\s+index="\d+")?\s*<\|sep\|>/y,
    closeArgument: '<|close|>argument<|sep|>',
    closeCall: '<|close|>call<|sep|>',
    closeSection: '<|close|>tools<|sep|>',
  },
}
