/** Assigns messages of other programs to the segments of a trajectory, and reads their tools. */
import { isObject, storable } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, Segment } from '#lib/trajectory/format/trajectory.ts'
import { readForeignMessage } from '#lib/trajectory/messages/foreign-message.ts'

/**
 * Assigns messages to the prompt segments: those between two answers belong to the prompt between them. Undefined if
 * these are not messages, or not those of these segments.
 */
export function withMessages(segments: readonly Segment[], messages: unknown): readonly Segment[] | undefined {
  const groups = betweenAnswers(messages)
  if (groups?.length !== segments.filter(({ kind }) => kind === 'prompt').length) return undefined
  const next = groups.values()
  return segments.map((segment) =>
    segment.kind === 'prompt' ? { ...segment, messages: next.next().value as Message[] } : segment,
  )
}

function betweenAnswers(messages: unknown): Message[][] | undefined {
  if (!Array.isArray(messages)) return undefined
  const groups: Message[][] = [[]]
  for (const value of messages) {
    if (isObject(value) && value.role === 'assistant') groups.push([])
    else {
      const read = readForeignMessage(value)
      if (!read) return undefined
      groups.at(-1)?.push(...read)
    }
  }
  return groups.at(-1)?.length === 0 ? groups.slice(0, -1) : groups
}

/**
 * Returns all messages with those of the assistant, for a prompt that contains earlier answers as messages. Undefined if these are
 * not messages.
 */
export function readMessages(messages: unknown): readonly Message[] | undefined {
  if (!Array.isArray(messages)) return undefined
  const read = messages.map(readForeignMessage)
  return read.every((each) => each !== undefined) ? read.flat() : undefined
}

/** Returns the messages before the first answer, or undefined if they cannot be read. */
export const firstMessages = (messages: unknown): readonly Message[] | undefined => betweenAnswers(messages)?.[0]

/**
 * Returns the tools in the notations of OpenAI, with or without an enclosing `function`, of Inspect and of Anthropic; undefined if these are
 * not tools.
 */
export function readTools(tools: unknown): readonly ToolSpec[] | undefined {
  const list = parseNestedJson(tools)
  if (!Array.isArray(list)) return undefined
  const specs = list.map((tool): ToolSpec | undefined => {
    const spec = isObject(tool) && isObject(tool.function) ? tool.function : tool
    if (!isObject(spec) || typeof spec.name !== 'string') return undefined
    const { name, description } = spec
    return {
      name,
      ...(typeof description === 'string' && { description }),
      inputSchema: storable([spec.parameters, spec.input_schema].find(isObject) ?? {}),
    }
  })
  return specs.every((spec) => spec !== undefined) ? specs : undefined
}
