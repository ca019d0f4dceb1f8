/** A trajectory as the lab's document: its template, options, tools, and its conversation as messages. */
import { responseTextWithStarts, withResultText } from '#lib/core/conversation.ts'
import { toolCallsOf } from '#lib/core/tokens.ts'
import type { ToolCall } from '#lib/core/trajectory.ts'
import type { ResponseView, TrajectoryView } from '#lib/core/trajectory-view.ts'
import { templateMessage, templateTools } from '#lib/tito/prompt.ts'
import type { Loaded } from './document.ts'
import { memberOf, readJsonText, sourceOf } from './json-text.ts'

/** `key`: under which it is stored. */
export function trajectoryInput(trajectory: TrajectoryView, key: string): Loaded {
  const { template, tokenizer, tools } = trajectory.model
  const hasTemplate = template !== undefined && template.text !== ''
  return {
    source: hasTemplate ? { kind: 'trajectory', key } : undefined,
    trajectory: key,
    name: `recorded: ${trajectory.title ?? firstQuestion(trajectory) ?? key}`,
    ...(hasTemplate && { template: template.text }),
    // The server's own tokenizer renders nothing: what was chosen before stays.
    ...(tokenizer && tokenizer.source !== 'server' && { tokenizer: tokenizer.name }),
    messages: `[\n  ${trajectoryMessages(trajectory).join(',\n  ')}\n]`,
    tools: tools.length === 0 ? '' : JSON.stringify(templateTools(tools), undefined, 2),
    options: JSON.stringify({ add_generation_prompt: false, ...template?.options }, undefined, 2),
  }
}

const LONGEST_NAME = 60

function firstQuestion(trajectory: TrajectoryView): string | undefined {
  const content = trajectory.segments
    .flatMap((segment) => (segment.kind === 'prompt' ? segment.messages : []))
    .find(({ role }) => role === 'user')?.content
  if (typeof content !== 'string') return undefined
  return content.length > LONGEST_NAME ? `${content.slice(0, LONGEST_NAME)} …` : content
}

/** The JSON of every message. A response is told in its parts, as an agent framework would send it again. */
function trajectoryMessages(trajectory: TrajectoryView): readonly string[] {
  const calls = toolCallsOf(trajectory)
  return trajectory.segments.flatMap((segment) =>
    segment.kind === 'response'
      ? [responseMessage(segment, trajectory)]
      : segment.messages.map((message) =>
          JSON.stringify(templateMessage(withResultText(message, trajectory), calls), undefined, 2).replaceAll(
            '\n',
            '\n  ',
          ),
        ),
  )
}

function responseMessage(segment: ResponseView, trajectory: TrajectoryView): string {
  const { text, starts } = responseTextWithStarts(segment, trajectory)
  const thinks = segment.thinks.map(({ start, end }) => ({
    start: starts[start] ?? text.length,
    end: starts[end] ?? text.length,
  }))
  const parsed = segment.toolCalls.filter((call) => call.kind === 'parsed')
  const taken = [...thinks, ...parsed.map((call) => call.text)].sort((a, b) => a.start - b.start)
  let rest = ''
  let at = 0
  for (const { start, end } of taken) {
    rest += text.slice(at, Math.max(at, start))
    at = Math.max(at, end)
  }
  const content = (rest + text.slice(at)).trim()
  const reasoning = thinks
    .map(({ start, end }) => text.slice(start, end).replace(/^\s*<[^<>]*>\s*|\s*<\/[^<>]*>\s*$/g, ''))
    .join('\n')
  const fields = [
    '"role": "assistant"',
    `"content": ${JSON.stringify(content)}`,
    ...(thinks.length > 0 ? [`"reasoning_content": ${JSON.stringify(reasoning)}`] : []),
    ...(parsed.length > 0 ? [`"tool_calls": [\n      ${parsed.map(callSource).join(',\n      ')}\n    ]`] : []),
  ]
  return `{\n    ${fields.join(',\n    ')}\n  }`
}

function callSource(call: ToolCall & { readonly kind: 'parsed' }): string {
  const { name, id, writtenId = id } = call
  return `{"id": ${JSON.stringify(writtenId)}, "type": "function", "function": {"name": ${JSON.stringify(name)}, "arguments": ${argumentsSource(call)}}}`
}

/** The arguments as the model spelled them, where it wrote JSON: 1.0 stays 1.0. */
export function argumentsSource({ raw, input }: ToolCall & { readonly kind: 'parsed' }): string {
  const written = raw.trim()
  const reading = readJsonText(written)
  const member = reading.ok ? (memberOf(reading.root, 'arguments') ?? memberOf(reading.root, 'parameters')) : undefined
  return member?.value.kind === 'object' ? sourceOf(written, member.value) : JSON.stringify(input)
}
