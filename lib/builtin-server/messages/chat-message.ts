/**
 * Converts a reply's text to the message that a chat client gets: separate reasoning and structured calls, by the rules of SGLang 0.5.23
 * with `--reasoning-parser qwen3 --tool-call-parser qwen`. Text around calls is trimmed, unknown tools and invalid JSON are dropped,
 * arguments are written again. A chat baseline exists to show this loss.
 */

import { JsonError } from '#lib/json/json-reader.ts'
import { readJson, writeJson } from '#lib/templates/jinja/python/json.ts'
import { truth } from '#lib/templates/jinja/python/operators.ts'
import { strip } from '#lib/templates/jinja/python/text/code-points.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import { QWEN3, splitReasoning } from './reasoning.ts'

/** A reply as a chat client gets it. */
export interface ReplyMessage {
  readonly content: string
  readonly reasoning: string | undefined
  readonly calls: readonly WrittenCall[]
}

interface WrittenCall {
  readonly name: string
  /** Arguments as JSON. */
  readonly arguments: string
}

/**
 * How reasoning is found. `begun`: thinking is on, so that a reply without delimiters is all reasoning. `possible`: only text between
 * delimiters. `kept`: reasoning stays in the text.
 */
export type ReasoningRule = 'begun' | 'possible' | 'kept'

/** Returns the message of a text. `tools` has the known names; if undefined, no calls are read. */
export function chatMessage(text: string, rule: ReasoningRule, tools: readonly string[] | undefined): ReplyMessage {
  const { reasoning, rest } =
    rule === 'kept' ? { reasoning: '', rest: text } : splitReasoning(text, QWEN3, rule === 'begun')
  const { content, calls } = tools ? withCalls(rest, tools) : { content: rest, calls: [] }
  return { content, reasoning: reasoning === '' ? undefined : reasoning, calls }
}

const OPEN = '<tool_call>\n'
const CLOSE = '\n</tool_call>'

/** Returns a new call id in SGLang's form. */
export const newCallId = (): string => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`

/** Separates the calls from a text by the rules of SGLang's parser `qwen`. */
export function withCalls(text: string, tools: readonly string[]): Pick<ReplyMessage, 'content' | 'calls'> {
  const start = text.indexOf(OPEN)
  if (start < 0) return { content: text, calls: [] }
  const calls: WrittenCall[] = []
  for (const body of bodies(text)) {
    const read = jsonOf(strip(body))
    if (read === undefined) continue
    const entries = Array.isArray(read) ? read : [read]
    // Python fails on a value without members, and then SGLang parses no call at all.
    if (!entries.every((entry) => entry instanceof PyDict)) return { content: text, calls: [] }
    for (const entry of entries as readonly PyDict[]) {
      const name = entry.get('name')
      if (typeof name !== 'string' || !tools.includes(name)) continue
      const parameters = entry.get('parameters')
      const source = parameters !== undefined && truth(parameters) ? parameters : entry.get('arguments')
      calls.push({ name, arguments: source === undefined ? '{}' : writeJson(source) })
    }
  }
  return { content: strip(text.slice(0, start)), calls }
}

/** Yields the bodies of all closed calls. */
function* bodies(text: string): Generator<string> {
  for (let at = 0; ; ) {
    const open = text.indexOf(OPEN, at)
    const begin = open + OPEN.length
    const close = open < 0 ? -1 : text.indexOf(CLOSE, begin)
    if (close < 0) return
    yield text.slice(begin, close)
    at = close + CLOSE.length
  }
}

/** Returns the parsed JSON; undefined if it is invalid. */
function jsonOf(text: string): Value | undefined {
  try {
    return readJson(text)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}
