/** Messages of a conversation that the doctor writes itself: thinking, content and calls are separate, arguments are JSON text. */
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** A message of a scripted conversation. */
export type ScriptMessage = TextMessage | ScriptReply | Result

interface TextMessage {
  readonly role: 'system' | 'developer' | 'user'
  readonly content: string
}

/** A reply of the model. */
export interface ScriptReply {
  readonly role: 'assistant'
  readonly thinking: string | undefined
  readonly content: string
  readonly calls: readonly ScriptCall[]
}

/** A tool call of a reply. */
export interface ScriptCall {
  readonly id: string
  readonly name: string
  /** A JSON object as text, so that 1.0 remains 1.0. */
  readonly arguments: string
}

interface Result {
  readonly role: 'tool'
  /** The call that the result answers; an empty id or name is unknown. */
  readonly call: Pick<ScriptCall, 'id' | 'name'>
  readonly content: string
}

/** How messages must be written for a template. */
export interface MessageForm {
  /** Fields for the thinking; if empty, it is part of the content, in the delimiters that the model writes. */
  readonly thinkingFields: readonly string[]
  readonly thinking: { readonly open: string; readonly close: string } | undefined
  readonly calls: 'object' | 'string'
}

/** Returns the messages as templates get them. */
export const templateMessages = (messages: readonly ScriptMessage[], form: MessageForm): TemplateMessage[] =>
  messages.map((message) => writeScript(message, form, readJson) as unknown as TemplateMessage)

/** Returns the same messages as a JSON list, for the editor and for other programs. */
export function messagesJson(messages: readonly ScriptMessage[], form: MessageForm): string {
  const raw: string[] = []
  // Arguments are inserted unchanged, because a JavaScript number would turn 1.0 into 1.
  const hold = (text: string): string => `\u0000${raw.push(text) - 1}\u0000`
  const lines = messages.map((message) => `  ${JSON.stringify(writeScript(message, form, hold))}`)
  return `[\n${lines.join(',\n')}\n]`.replace(/"\\u0000(\d+)\\u0000"/g, (_, index) => elementAt(raw, Number(index)))
}

function writeScript(
  message: ScriptMessage,
  { thinkingFields, thinking: delimiters, calls: form }: MessageForm,
  value: (argumentsJson: string) => unknown,
): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'assistant': {
      const { role, thinking, content, calls } = message
      const isInline = thinking !== undefined && thinkingFields.length === 0
      return {
        role,
        ...(thinking !== undefined && Object.fromEntries(thinkingFields.map((field) => [field, thinking]))),
        content: isInline ? `${delimiters?.open ?? ''}${thinking}${delimiters?.close ?? ''}${content}` : content,
        ...(calls.length > 0 && {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: form === 'string' ? call.arguments : value(call.arguments) },
          })),
        }),
      }
    }
    case 'tool':
      return {
        role: 'tool',
        ...(message.call.id !== '' && { tool_call_id: message.call.id }),
        ...(message.call.name !== '' && { name: message.call.name }),
        content: message.content,
      }
    default:
      return { ...message }
  }
}
