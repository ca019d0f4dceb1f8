/** Reads messages in the notations of Strands, OpenAI and trainers. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { Message, Segment } from '#lib/trajectory/format/trajectory.ts'

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
      const read = readMessage(value)
      if (!read) return undefined
      groups.at(-1)?.push(...read)
    }
  }
  return groups.at(-1)?.length === 0 ? groups.slice(0, -1) : groups
}

/** Returns the messages before the first answer, or undefined if they cannot be read. */
export const firstMessages = (messages: unknown): readonly Message[] | undefined => betweenAnswers(messages)?.[0]

/** One message may contain several tool results; each becomes a separate message. */
function readMessage(value: unknown): Message[] | undefined {
  if (!isObject(value)) return undefined
  const { role, content } = value
  if (typeof content !== 'string' && !(Array.isArray(content) && content.every(isObject))) return undefined
  if (role === 'tool')
    return [
      {
        role,
        ...(typeof value.tool_call_id === 'string' && { callId: value.tool_call_id }),
        content: typeof content === 'string' ? content : textOfBlocks(content),
      },
    ]
  if (role !== 'system' && role !== 'developer' && role !== 'user') return undefined
  if (typeof content === 'string') return [{ role, content }]
  const results = content.flatMap(({ toolResult }) => (isObject(toolResult) ? [resultMessage(toolResult)] : []))
  const parts = content.filter(({ toolResult }) => toolResult === undefined).map(partOf)
  if (parts.length === 0) return results
  const text = parts.every(({ type }) => type === 'text') ? textOfBlocks(parts) : undefined
  return [...results, { role, content: text ?? parts }]
}

const resultMessage = ({ toolUseId, content }: JsonObject): Message => ({
  role: 'tool',
  ...(typeof toolUseId === 'string' && { callId: toolUseId }),
  content: Array.isArray(content) ? textOfBlocks(content.filter(isObject)) : '',
})

/** The key names a Strands block, the type an OpenAI part. */
function partOf(block: JsonObject): { readonly type: string; readonly text?: string } {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  return { type: typeof block.type === 'string' ? block.type : (Object.keys(block)[0] ?? 'unknown') }
}

const textOfBlocks = (blocks: readonly JsonObject[]): string =>
  blocks.map((block) => (typeof block.text === 'string' ? block.text : '')).join('')
