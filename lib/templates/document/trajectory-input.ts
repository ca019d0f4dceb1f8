/** A trajectory as the lab's document: its template, options and tools, and its conversation as messages. */

import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { argumentsSource } from '#lib/parsers/reading/written-arguments.ts'
import { templateMessage, templateTools } from '#lib/rollout/prompt/prompt.ts'
import { replyTexts, type WrittenReply, writtenReply } from '#lib/rollout/prompt/written-reply.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { Message, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { messageOfResponse, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { titleOrQuestion } from '#lib/trajectory/messages/first-question.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { SourceContents } from './document.ts'

/** Returns what opening a trajectory loads. `key` is the key under which it is stored. */
export function trajectoryInput(trajectory: TrajectoryView, key: string): SourceContents {
  const { template, tokenizer, tools } = trajectory.model
  const hasTemplate = template !== undefined && template.text !== ''
  return {
    source: hasTemplate ? { kind: 'trajectory', key } : undefined,
    trajectory: key,
    name: `recorded: ${titleOrQuestion(trajectory) ?? key}`,
    ...(hasTemplate && { template: template.text }),
    // The server's own tokenizer cannot render, so that the chosen one remains.
    ...(tokenizer && tokenizer.source !== 'server' && { tokenizer: tokenizer.name }),
    messages: `[\n  ${trajectoryMessages(trajectory).join(',\n  ')}\n]`,
    tools: tools.length === 0 ? '' : JSON.stringify(templateTools(tools), undefined, 2),
    options: JSON.stringify({ add_generation_prompt: false, ...template?.options }, undefined, 2),
  }
}

/** Fills in what was recorded where the texts are empty. Options are added to the recorded ones and override them. */
export function withRecorded<Texts extends Omit<LabInput, 'template'>>(
  texts: Texts,
  trajectory: TrajectoryView,
): Texts {
  const { messages = '', tools = '', options = '' } = trajectoryInput(trajectory, trajectory.id)
  const isEmpty = ['', '{}', 'null'].includes(texts.options.trim())
  return {
    ...texts,
    messages: texts.messages.trim() === '' ? messages : texts.messages,
    tools: texts.tools.trim() === '' ? tools : texts.tools,
    // JSON uses the last value of a name that occurs twice.
    options: isEmpty ? options : `${options.trim().slice(0, -1)}, ${texts.options.trim().slice(1)}`,
  }
}

/** Returns the JSON of every message. A response is split into its parts, as an agent framework would send it again. */
function trajectoryMessages(trajectory: TrajectoryView): readonly string[] {
  const calls = toolCallsOf(trajectory)
  return trajectory.segments.flatMap((segment) =>
    segment.kind === 'response'
      ? [replyJson(segment, trajectory)]
      : segment.messages.map((message) => contextMessage(withResultText(message, trajectory), calls)),
  )
}

const replyJson = (segment: ResponseView, trajectory: TrajectoryView): string =>
  segment.message && messageOfResponse(segment, trajectory)
    ? foreignReplyJson(segment.message)
    : replyMessageJson(writtenReply(segment, trajectory))

/** Returns the JSON of a message that the model read; `calls` are those of the trajectory. */
export const contextMessage = (message: Message, calls: readonly ToolCall[]): string =>
  JSON.stringify(templateMessage(message, calls), undefined, 2).replaceAll('\n', '\n  ')

/** Returns the JSON of a reply, as Python clients keep it after they have read thinking and calls; a malformed call remains in the text. */
export function replyMessageJson(reply: WrittenReply): string {
  const parsed = reply.calls.filter((call) => call.kind === 'parsed')
  const { content, reasoning } = replyTexts(reply, parsed)
  const fields = [
    '"role": "assistant"',
    `"content": ${JSON.stringify(content)}`,
    ...(reasoning === undefined ? [] : [`"reasoning_content": ${JSON.stringify(reasoning)}`]),
    ...(parsed.length > 0
      ? [`"tool_calls": [\n      ${parsed.map((call) => callSource(call, reply.text)).join(',\n      ')}\n    ]`]
      : []),
  ]
  return `{\n    ${fields.join(',\n    ')}\n  }`
}

/** Returns the JSON of a reply as its file has it. Arguments that are a JSON text keep its spelling: 1.0 stays 1.0. */
export function foreignReplyJson(given: JsonObject): string {
  const { toolCalls = [], ...message } = assistantMessage(given)
  const written = Array.isArray(given.tool_calls) ? given.tool_calls.filter(isObject).map(argumentsIn) : []
  const calls = toolCalls.map(({ id, name, input }, index) => {
    const text = written[index]
    const source = typeof text === 'string' && isObject(input) && text !== '' ? text : JSON.stringify(input)
    const named = id === undefined ? '' : `"id": ${JSON.stringify(id)}, `
    return `{${named}"type": "function", "function": {"name": ${JSON.stringify(name)}, "arguments": ${source}}}`
  })
  const fields = JSON.stringify(templateMessage(message, []))
  return calls.length === 0 ? fields : `${fields.slice(0, -1)}, "tool_calls": [${calls.join(', ')}]}`
}

const argumentsIn = (call: JsonObject): unknown => (isObject(call.function) ? call.function.arguments : call.arguments)

type ParsedCall = ToolCall & { readonly kind: 'parsed' }

function callSource(call: ParsedCall, text: string): string {
  const { name, id, writtenId = id } = call
  return `{"id": ${JSON.stringify(writtenId)}, "type": "function", "function": {"name": ${JSON.stringify(name)}, "arguments": ${argumentsSource(call, text)}}}`
}
