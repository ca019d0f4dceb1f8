/** Finds what a render leaves out of a conversation: tools, calls, thinking. */
import type { CompiledTemplate, RenderInput } from '#lib/templates/chat-template.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import { orTemplateFailure } from '../document/input.ts'
import { LIVE_BUDGET } from '../live-budget.ts'

interface LeftOut {
  readonly tools: boolean
  /** Indexes of the messages whose calls are left out. */
  readonly calls: readonly number[]
  /** Indexes of the messages whose thinking is left out. */
  readonly thinking: readonly number[]
}

const NOTHING_LEFT_OUT: LeftOut = { tools: false, calls: [], thinking: [] }

const THINKING_FIELDS = ['reasoning_content', 'reasoning', 'thinking']
const THINK_BLOCK = /(<(think|thought|seed:think)>|\[THINK\])([\s\S]*?)(<\/\2>|\[\/THINK\])/g

/**
 * Replaces names of tools and calls and texts of thinking by unique marks, and searches the render for them: the texts themselves may occur
 * by chance, or escaped. A template that raises an error for marks leaves out nothing that is known.
 */
function leftOutOf(input: RenderInput, template: CompiledTemplate): LeftOut {
  const marks = { tools: [] as string[], calls: new Map<number, string[]>(), thinking: new Map<number, string[]>() }
  const tools = input.tools?.map((tool, index) => withMarkedName(tool, toolMark(index), marks.tools))
  const messages = input.messages.map((message, index) => {
    if (!(message instanceof PyDict) || message.get('role') !== 'assistant') return message
    return markedReply(message, {
      calls: (count) => markOf(marks.calls, index, `markcall${index}n${count}z`),
      thinking: (count) => markOf(marks.thinking, index, `markthought${index}n${count}z`),
    })
  })
  if (marks.tools.length + marks.calls.size + marks.thinking.size === 0) return NOTHING_LEFT_OUT
  const rendered = orTemplateFailure(() => template.trace({ ...input, messages, tools }, LIVE_BUDGET).text)
  if (!rendered.ok) return NOTHING_LEFT_OUT
  const isAbsent = (mark: string): boolean => !rendered.value.includes(mark)
  const absent = (all: ReadonlyMap<number, readonly string[]>): readonly number[] =>
    [...all].flatMap(([index, own]) => (own.every(isAbsent) ? [index] : []))
  return {
    tools: marks.tools.length > 0 && marks.tools.every(isAbsent),
    calls: absent(marks.calls),
    thinking: absent(marks.thinking),
  }
}

const toolMark = (index: number): string => `marktool${index}z`

function markOf(marks: Map<number, string[]>, index: number, mark: string): string {
  const own = marks.get(index) ?? []
  own.push(mark)
  marks.set(index, own)
  return mark
}

function withMember(dict: PyDict, changes: ReadonlyMap<Value, Value>): PyDict {
  return PyDict.of([...dict.entries()].map(([key, value]) => [key, changes.get(key) ?? value] as const))
}

/** Marks a tool or a call, `{function: {name}}` or `{name}`; returns it unchanged if it has no name. */
function withMarkedName(tool: unknown, mark: string, marks: string[]): unknown {
  if (!(tool instanceof PyDict)) return tool
  const inner = tool.get('function')
  if (inner instanceof PyDict)
    return withMember(tool, new Map([['function', withMarkedName(inner, mark, marks) as Value]]))
  if (typeof tool.get('name') !== 'string') return tool
  marks.push(mark)
  return withMember(tool, new Map([['name', mark]]))
}

interface Marks {
  readonly calls: (count: number) => string
  readonly thinking: (count: number) => string
}

function markedReply(message: PyDict, { calls, thinking }: Marks): PyDict {
  const changes = new Map<Value, Value>()
  const own = message.get('tool_calls')
  if (Array.isArray(own))
    changes.set(
      'tool_calls',
      own.map((call, count) => {
        const hasName = call instanceof PyDict && (call.get('function') instanceof PyDict || call.has('name'))
        return (hasName ? withMarkedName(call, calls(count), []) : call) as Value
      }),
    )
  let count = 0
  for (const field of THINKING_FIELDS) {
    const text = message.get(field)
    // Clients that know several names write the same thinking under each of them.
    if (typeof text === 'string' && text.trim() !== '') changes.set(field, thinking(count++))
  }
  const content = message.get('content')
  if (typeof content === 'string')
    changes.set(
      'content',
      content.replaceAll(THINK_BLOCK, (block, open: string, _: string, text: string, close: string) =>
        text.trim() === '' ? block : `${open}${text.replace(text.trim(), thinking(count++))}${close}`,
      ),
    )
  return withMember(message, changes)
}

/** Returns a sentence on what the render leaves out of the conversation; undefined if it leaves out nothing. */
export function leftOutText(input: RenderInput, template: CompiledTemplate): string | undefined {
  const { tools, calls, thinking } = leftOutOf(input, template)
  const parts = [
    ...(tools ? ['the tools'] : []),
    ...(calls.length > 0 ? [`the calls of ${messagesText(calls)}`] : []),
    ...(thinking.length > 0 ? [`the thinking of ${messagesText(thinking)}`] : []),
  ]
  return parts.length === 0 ? undefined : `The template leaves out ${listText(parts)}.`
}

/** Most messages that are listed by number. */
const MOST_LISTED = 6

function messagesText(indexes: readonly number[]): string {
  const numbers = indexes.slice(0, MOST_LISTED).map((index) => String(index + 1))
  const more = indexes.length - numbers.length
  return `${indexes.length === 1 ? 'message' : 'messages'} ${listText(more > 0 ? [...numbers, `${more} more`] : numbers)}`
}

const listText = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
