/**
 * Decides which divergences of docs/divergences.md, "SGLang’s tool-call parsers", explain why a text is read
 * differently.
 */
import type { ParsedCall } from '../parser.ts'

/** A call's name and its arguments, as JSON with sorted keys. */
export type SglangReadCall = readonly [name: string, input: string]

/** A text as both parsers read it. */
export interface Reading {
  /** Our name of the format. */
  readonly parser: string
  /** SGLang's name of the detector that read the text. */
  readonly detector: string
  readonly text: string
  readonly calls: readonly ParsedCall[]
  /** Our calls of known tools that could be parsed. */
  readonly ours: readonly SglangReadCall[]
  /** SGLang's calls, or the exception that escaped. */
  readonly theirs: readonly SglangReadCall[] | string
}

/** Returns the divergence, '' if both agree, or undefined for an unexplained difference. */
export function sglangDivergenceOf(reading: Reading): string | undefined {
  if (JSON.stringify(reading.ours) === JSON.stringify(reading.theirs)) return ''
  return Object.keys(divergences).find((name) => divergences[name]?.(reading))
}

/** Conditions of a text that differs for each reason. The first that applies is the reason. */
const divergences: Readonly<Record<string, (reading: Reading) => boolean>> = {
  'think-shields': ({ parser, text, calls, theirs }) =>
    /<think(?::opensource)?>.*<\/think|<\|channel>.*<channel\|>/s.test(text) &&
    (/^(?:step3|k2_horizon)$/.test(parser) || theirs.length > calls.length),
  'no-exceptions': ({ parser, text, theirs }) =>
    typeof theirs === 'string' || (parser === 'hunyuan' && text.includes('>maybe<') && theirs.length === 0),
  'numbers-of-json': ({ text }) => /1e999|NaN/.test(text),
  'line-breaks': ({ detector, text, ours, theirs }) =>
    isMore(ours, theirs) &&
    ((detector === 'qwen25' && /<tool_call>(?!\n)|(?<!\n)<\/tool_call>/.test(text)) ||
      (detector === 'glm45' && /<tool_call>[^\n<]+<(?!tool_call>)/.test(text)) ||
      (detector === 'apertus2509' && /<\|tools_prefix\|>\s/.test(text)) ||
      (detector === 'gigachat3' && /<\|role_sep\|>(?!\n)/.test(text))),
  'tags-in-values': ({ calls, text, ours, theirs }) =>
    theirs.length <= ours.length &&
    calls.some((call) => call.kind === 'parsed' && call.arguments.some((one) => TAG.test(taken(text, one.text)))),
  'json-unread': ({ parser, theirs }) => parser === 'kimi_k2' && !readIn(theirs).every(([, json]) => isJson(json)),
  'one-arguments': (reading) =>
    isRefused(reading, /^both ".*" are given$/) ||
    (reading.parser === 'interns1' && /"parameters": (?:\{\}|null)/.test(reading.text)),
  'names-once': (reading) => reading.parser !== 'pythonic' && isRefused(reading, /is given twice$|has ".*" twice$/),
  'names-not-blank': (reading) =>
    isRefused(
      reading,
      /names no tool$|has no name$|^"name" is not a text$|is not followed by a name$|":" where a name is expected$/,
    ) &&
    /^(?:qwen_xml|mimo|glm|kimi_k2|gemma4|kimi_k3|hunyuan|minimax-m3|minicpm5|step3|dots|iquest_q1|k2_horizon|gigachat35|inkling)$/.test(
      reading.parser,
    ),
  'names-one-word': (reading) => isRefused(reading, /contains white space$/),
  'kimi-ids': ({ parser, ours, theirs }) => parser === 'kimi_k2' && isMore(ours, theirs),
  'typed-by-schema': (reading) =>
    (/^(?:qwen_xml|mimo|glm|minimax-m2|muse|hunyuan|minimax-m3|minicpm5|step3|dots|iquest_q1|k2_horizon)$/.test(
      reading.parser,
    ) &&
      (isRefused(reading, /is not of type/) || areNamedAlike(reading.ours, reading.theirs))) ||
    (reading.parser === 'kimi_k3' && isRefused(reading, /is not of type/)),
  'words-of-gemma': ({ parser, text, ours, theirs }) =>
    parser === 'gemma4' && areNamedAlike(ours, theirs) && /[:,[](?:null|None|\d+e\d)/.test(text),
  'texts-quoted': (reading) => isRefused(reading, /where a number, true, false, null or .* is expected$/),
  'keys-quoted': ({ parser, text }) => parser === 'gemma4' && /[{,]<\|"\|>[^<]*<\|"\|>:/.test(text),
  'objects-only': (reading) => isRefused(reading, /is not a JSON object/),
  'python-dicts': ({ parser, text, ours }) => parser === 'llama3' && ours.length === 0 && /'name'|,\]/.test(text),
  'bare-after-space': ({ parser, text }) => parser === 'llama3' && /^\s/.test(text),
  'named-arguments': (reading) => isRefused(reading, /has no name$|is given twice$/),
  'keys-are-texts': (reading) => isRefused(reading, /key of the dict$/),
  'character-names': ({ parser, text }) => parser === 'pythonic' && text.includes('\\N{'),
  'run-ends': ({ parser, ours, theirs }) => /^(?:llama3|pythonic)$/.test(parser) && isMore(theirs, ours),
  'list-as-printed': ({ parser, text }) => parser === 'mistral' && /\[TOOL_CALLS\]\n?\[\{/.test(text),
  'call-ids': ({ parser, text }) => parser === 'mistral' && text.includes('[CALL_ID]'),
  'marks-whole': ({ parser, text }) => parser === 'mistral' && /\[TOOL_CALLS(?!\])|\[TOOL_CALLS\]\w+\{/.test(text),
  'tags-whole': ({ parser, text }) => parser === 'minimax-m3' && text.includes(']<]minimax[>[ <'),
  'every-mark': ({ parser, text, ours, theirs }) =>
    (text.split(/\[TOOL_CALLS\]|<\|START_ACTION\|>/).length > 2 && isMore(ours, theirs)) ||
    (parser === 'kimi_k3' && text.split('<|open|>tools<|sep|>').length > 2) ||
    (/^(?:gigachat35|step3|dots|k2_horizon)$/.test(parser) && isMore(ours, theirs)),
  'tags-only': ({ parser, text }) => parser === 'dots' && text.includes('call>{'),
  'lists-only': (reading) => isRefused(reading, /where the list of calls is expected$/),
  'section-may-lack': ({ parser, text, ours, theirs }) =>
    parser === 'deepseek_v3' && isMore(ours, theirs) && !text.includes('<｜tool▁calls▁begin｜>'),
  'section-needed': (reading) => isRefused(reading, /is in no section|^the section is not closed/),
  'name-in-space': ({ parser, text, ours, theirs }) =>
    (parser === 'deepseek_v31' && /begin｜>\s|\s<｜tool▁sep/.test(text)) ||
    (parser === 'glm' && isMore(ours, theirs) && /<tool_call>(?:\s|[^<]*\s<)/.test(text)) ||
    (/^(?:qwen_xml|mimo)$/.test(parser) && /<(?:function|parameter)= /.test(text)) ||
    (parser === 'gemma4' && /<\|tool_call> |call: /.test(text)) ||
    (parser === 'kimi_k3' && text.includes('tool=" ')) ||
    (/^(?:minimax-m3|dots)$/.test(parser) && text.includes('name=" ')),
  'good-call-kept': ({ parser, calls, ours, theirs }) =>
    parser !== 'llama3' &&
    parser !== 'mistral' &&
    calls.some(({ kind }) => kind === 'malformed') &&
    ours.some((call) => !canonical(theirs).includes(canonical([call]).slice(1, -1))),
  'brackets-in-texts': ({ parser, text }) => parser === 'gemma4' && /\[[^<]*<\|"\|>[^<]*[[\]]<\|"\|>/.test(text),
  'white-space-kept': ({ parser, ours, theirs }) =>
    /^deepseek_v/.test(parser) &&
    canonical(ours).replaceAll(/\\\\[nt]| /g, '') === canonical(theirs).replaceAll(' ', ''),
  'false-is-json': (reading) => isRefused(reading, /is neither a text nor JSON/),
  'values-closed': (reading) => isRefused(reading, /^the value of ".*" is not closed$|^a string is not closed$/),
  'closed-calls': (reading) =>
    isRefused(
      reading,
      /^the call is not closed|(?:^|: )(?:the text ends where|the call is empty$)|where <\/(?:tool_call|function)> is expected$/,
    ) && isMore(reading.theirs, reading.ours),
  'nothing-between-tags': (reading) =>
    /^(?:deepseek_v32|deepseek_v4|deepseek_v41|gigachat35|qwen_xml|mimo|glm|gemma4|minimax-m2|kimi_k3|cohere_command4|apertus2509|muse|hunyuan|minimax-m3|minicpm5|step3|dots|iquest_q1|k2_horizon)$/.test(
      reading.parser,
    ) &&
    isRefused(reading, /is expected$|is not followed by|^unexpected text between|is not closed by|with one member/),
  'names-of-harmony': ({ parser, text }) => parser === 'gpt-oss' && /to=(?!functions\.[\w-]+[\s<])/.test(text),
  'headers-of-harmony': ({ parser, text, ours, theirs }) =>
    parser === 'gpt-oss' && isMore(ours, theirs) && !text.split('<|start|>').every(isUsualHeader),
  'channels-of-muse': ({ parser, ours, theirs }) => parser === 'muse' && isMore(ours, theirs),
  'one-call': ({ parser, text, ours, theirs }) =>
    parser === 'gigachat3' &&
    isMore(ours, theirs) &&
    /\}(?!\s*(?:<\/s>)?\s*$)[^}]*$|\}\s*\{"json|\{"name".*\{"name"/s.test(text),
  'escapes-in-texts': ({ parser, text }) => parser === 'gigachat3' && /"[^"\n]*\n[^"]*"\}/.test(text),
  'arguments-needed': ({ parser, text, ours, theirs }) =>
    (parser === 'gigachat3' && isMore(ours, theirs) && !text.includes('"arguments"')) ||
    (parser === 'inkling' && isMore(ours, theirs) && !text.includes('"args"')),
  signs: ({ parser, text, theirs }) => parser === 'pythonic' && theirs.length === 0 && /[=[][-+]\d/.test(text),
  'names-of-tools': ({ parser, text }) =>
    /^(?:pythonic|lfm2)$/.test(parser) && /\[[^\s([]*[^\w\s([][^\s([]*\(/.test(text) && !text.includes(']['),
  'no-repairs': ({ parser, ours, theirs }) => parser === 'lfm2' && isMore(theirs, ours),
  'names-of-cohere': (reading) => isRefused(reading, /^the call has no "tool_name"$/),
  'any-list': ({ parser, ours, theirs }) => parser === 'pythonic' && isMore(ours, theirs),
}

/** Names of all divergences. */
export const sglangDivergenceNames: readonly string[] = Object.keys(divergences)

const TAG =
  /<\/tool_call(?::opensource)?>|<\/iquest_tool_call>|<\/ifm\|tool_call>|<\/function>|<tool_call\|>|<\|tool_call_end\|>|<｜tool▁call▁end｜>|<\/｜(?:DSML|GCML)｜ ?invoke>|<\|close\|>|<\|call\|>|<\|end\|>|\[TOOL_CALLS\]|<\|END_ACTION\|>|<\|end_message\|>/

/** Returns whether SGLang accepts the start of a message, or one to nobody. Text before the first start has none. */
const isUsualHeader = (message: string, index: number): boolean =>
  !message.includes('to=') ||
  (index > 0 && /^assistant<\|channel\|>commentary to=[\w.-]+\s*<\|constrain\|>json<\|message\|>/.test(message))

const isRefused = ({ calls }: Reading, why: RegExp): boolean =>
  calls.some((call) => call.kind === 'malformed' && why.test(call.why))

const readIn = (theirs: Reading['theirs']): readonly SglangReadCall[] => (typeof theirs === 'string' ? [] : theirs)
const namesIn = (calls: Reading['theirs']): string => JSON.stringify(readIn(calls).map(([name]) => name))

/** Returns whether both have the same tools in the same order. */
const areNamedAlike = (ours: Reading['ours'], theirs: Reading['theirs']): boolean => namesIn(ours) === namesIn(theirs)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isMore = (some: Reading['theirs'], others: Reading['theirs']): boolean => some.length > others.length

const canonical = (calls: Reading['theirs']): string => JSON.stringify(calls)

const taken = (text: string, { start, end }: { readonly start: number; readonly end: number }): string =>
  text.slice(start, end)
