/** Finds what a template writes for an assistant message with tool calls in the rendered text. */

import { callIdAt } from '#lib/rollout/record/record.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { CompiledTemplate, RenderInput } from '#lib/templates/chat-template.ts'
import type { Rendering } from '#lib/templates/jinja/rendering.ts'
import { orTemplateFailure, type ReadInput, readInput } from '../document/input.ts'

/** A call of a message, in JSON texts, so that 1.0 remains 1.0. */
export interface CallToWrite {
  readonly id: string
  readonly name: string
  /** A JSON object. */
  readonly arguments: string
}

/** A render of a message with tool calls. */
export interface WrittenCalls {
  readonly rendering: Rendering
  /** Range of what the message wrote; the whole text if the template does not show it. */
  readonly start: number
  readonly end: number
  /** Form in which the arguments were given: templates differ in what they can write. */
  readonly argumentForm: ArgumentForm
}

/** Arguments as an object, or as JSON text. */
export type ArgumentForm = 'object' | 'text'

/**
 * Renders the calls in the first form that the template writes, because templates differ: arguments are given as an object, then as a text;
 * without `content` (text next to the calls), the content is empty, then null, which transformers removes; ids are the given ones, then
 * ours with nine letters, as Mistral's templates require.
 */
export function writeCalls(
  template: CompiledTemplate,
  input: LabInput,
  calls: readonly CallToWrite[],
  content: string,
): ReadInput<WrittenCalls> {
  let first: ReadInput<WrittenCalls> | undefined
  const plain = calls.map((call, index) => ({ ...call, id: callIdAt(index) }))
  for (const callList of [calls, plain])
    for (const shownContent of content === '' ? ['', null] : [content])
      for (const form of ['object', 'text'] as const) {
        const one = renderCalls(template, input, callList, shownContent, form)
        if (one.ok ? holdsCalls(one.value, calls) : one.error.where !== 'template') return one
        if (!first?.ok) first = one.ok ? one : (first ?? one)
      }
  return first as ReadInput<WrittenCalls>
}

/** Returns the text that the message wrote. */
export const writtenText = ({ rendering, start, end }: WrittenCalls): string => rendering.text.slice(start, end)

const holdsCalls = (one: WrittenCalls, calls: readonly CallToWrite[]): boolean =>
  calls.every(({ name }) => writtenText(one).includes(name))

function renderCalls(
  template: CompiledTemplate,
  input: LabInput,
  calls: readonly CallToWrite[],
  content: string | null,
  argumentForm: ArgumentForm,
): ReadInput<WrittenCalls> {
  const read = renderInputWith(input, callMessage(calls, content, argumentForm))
  if (!read.ok) return read
  const traced = orTemplateFailure(() => template.trace(read.value))
  if (!traced.ok) return traced
  return { ok: true, value: { rendering: traced.value, ...regionOf(template, traced.value, read.value), argumentForm } }
}

/** Reads the input with the message in place of the reply: after the last message that is not the assistant's. */
function renderInputWith({ messages, tools, options }: LabInput, message: string): ReadInput<RenderInput> {
  const isEmpty = /^\s*\[\s*\]\s*$/.test(messages)
  // Errors have their positions in the original text.
  const reading = isEmpty ? undefined : readInput({ messages, tools, options })
  if (reading && !reading.ok) return reading
  const read = readInput({ messages: withReply(isEmpty ? '[]' : messages, message), tools, options })
  return read.ok
    ? { ok: true, value: { ...read.value, addGenerationPrompt: false, continueFinalMessage: false } }
    : read
}

const QUESTION = '{"role": "user", "content": "?"}'

/** Changes the messages as text, because reading and writing them would change numbers. */
function withReply(messages: string, message: string): string {
  const entries = entriesOf(messages)
  while (entries.length > 0 && ROLE_ASSISTANT.test(outerMembers(entries.at(-1) as string))) entries.pop()
  return `[${[...(entries.length > 0 ? entries : [QUESTION]), message].join(', ')}]`
}

const ROLE_ASSISTANT = /"role"\s*:\s*"assistant"/

/** Returns the text of an object without its inner objects and lists. */
function outerMembers(entry: string): string {
  let depth = 0
  return entry.replaceAll(STRING_OR_BRACKET, (found) => {
    if (found === ']' || found === '}') depth--
    const symbol = depth <= 1 ? found : ''
    if (found === '[' || found === '{') depth++
    return symbol
  })
}

const STRING_OR_BRACKET = /"(?:[^"\\]|\\.)*"|[[\]{},]/gs

/** Returns the texts of the entries of a list. */
function entriesOf(json: string): string[] {
  const entries: string[] = []
  let depth = 0
  let start = 0
  for (const { 0: found, index } of json.matchAll(STRING_OR_BRACKET)) {
    if (found === '[' || found === '{') depth++
    if (depth === 1 && (found === '[' || found === ',' || found === ']')) {
      const entry = found === '[' ? '' : json.slice(start, index).trim()
      if (entry !== '') entries.push(entry)
      start = index + 1
    }
    if (found === ']' || found === '}') depth--
  }
  return entries
}

function callMessage(calls: readonly CallToWrite[], content: string | null, form: ArgumentForm): string {
  const callTexts = calls.map(({ id, name, arguments: json }) => {
    const value = form === 'object' ? json : JSON.stringify(json)
    return `{"id": ${JSON.stringify(id)}, "type": "function", "function": {"name": ${JSON.stringify(name)}, "arguments": ${value}}}`
  })
  return `{"role": "assistant", "content": ${JSON.stringify(content)}, "tool_calls": [${callTexts.join(', ')}]}`
}

/**
 * Returns the range from the first to the last letter that the last message wrote, without the generation prompt: a call may have to be at
 * the beginning of the reply.
 */
function regionOf(
  template: CompiledTemplate,
  { text, pieces }: Rendering,
  input: RenderInput,
): { start: number; end: number } {
  const last = input.messages.length - 1
  const own = pieces.filter(({ message }) => message === last)
  const start = own[0]?.start ?? 0
  const prompt = orTemplateFailure(() =>
    template.render({ ...input, messages: input.messages.slice(0, last), addGenerationPrompt: true }),
  )
  const begins = prompt.ok && text.startsWith(prompt.value) ? prompt.value.length : start
  return { start: Math.max(start, begins), end: own.at(-1)?.end ?? text.length }
}
