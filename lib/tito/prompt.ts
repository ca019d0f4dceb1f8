/**
 * Which ids go in next. The first prompt is the whole template; every later one is only what is new, so that sampled
 * ids are never encoded again. The new part is rendered behind a placeholder reply and cut after it: a difference of
 * two renders would be wrong for templates that look back (Qwen3 writes the last reply otherwise than earlier ones).
 */
import { commonText } from '#lib/core/common-prefix.ts'
import { conversation, withResultText } from '#lib/core/conversation.ts'
import { onceFor } from '#lib/core/once-for.ts'
import { segmentsOf, toolCallsOf } from '#lib/core/tokens.ts'
import type { Derivation, Message, Problem, ToolCall, ToolSpec, Trajectory } from '#lib/core/trajectory.ts'
import { type ChatTemplate, TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from './tokenizer.ts'

/** What turns messages into ids and back. */
export interface Codec {
  readonly tokenizer: Tokenizer
  readonly template: ChatTemplate
  /**
   * Set where answers come from elsewhere: runs a computation on this codec, fetches what it lacked, and runs it again
   * until it lacks nothing. The computation changes nothing but its result. Omitted: everything is at hand.
   */
  readonly settle?: <T>(compute: () => T, signal: AbortSignal) => Promise<T>
}

/** The result of a computation on a codec, wherever the codec's answers come from. */
export const settled = async <T>(codec: Codec, compute: () => T, signal: AbortSignal): Promise<T> =>
  codec.settle ? codec.settle(compute, signal) : compute()

export interface Prompt {
  readonly ids: readonly number[]
  readonly derivation: Derivation
  /** What the template did that its user should know. */
  readonly problems: readonly Problem[]
}

export interface RenderSettings {
  readonly tools: readonly ToolSpec[]
  readonly options: Readonly<Record<string, unknown>>
}

/** The whole conversation through the template. Throws TemplateError. */
export function firstPrompt(
  messages: readonly Message[],
  { tools, options }: RenderSettings,
  { tokenizer, template }: Codec,
): Prompt {
  const input = {
    messages: messages.map((message) => templateMessage(message, [])),
    addGenerationPrompt: true,
    options,
  }
  const text = template.render({ ...input, tools: toolsVariable(tools) })
  const isMute =
    tools.length > 0 &&
    !showsTools(text, messages, tools, options, template) &&
    text === rendered(() => template.render({ ...input, tools: undefined }))
  return { ids: tokenizer.encode(text), derivation: { kind: 'whole' }, problems: isMute ? [TOOLS_NOT_PRINTED] : [] }
}

/** Templates of models that were not trained on tools leave them out without a word. */
const TOOLS_NOT_PRINTED: Problem = {
  kind: 'template',
  message: 'The chat template does not print the tools: the model was not told that it has any.',
}

/**
 * Whether a text quotes the name of a tool that is nowhere else: a render without the tools would be another text. A template
 * that is rendered elsewhere may hold anything.
 */
function showsTools(
  text: string,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  options: RenderSettings['options'],
  template: ChatTemplate,
): boolean {
  if (template.text === '') return false
  const elsewhere = [template.text, JSON.stringify([messages, options])]
  return tools.some(
    ({ name }) => /^\w+$/.test(name) && text.includes(`"${name}"`) && !elsewhere.some((other) => other.includes(name)),
  )
}

/** undefined when the template refuses. */
function rendered(render: () => string): string | undefined {
  try {
    return render()
  } catch (error) {
    if (error instanceof TemplateError) return undefined
    throw error
  }
}

/**
 * What `messages` add to a trajectory: the end of the open turn where the reply lacks it, the separator, the messages
 * and the next generation prompt. Tool messages take their text from the call they name. Throws TemplateError.
 */
export function nextPrompt(
  trajectory: Trajectory,
  messages: readonly Message[],
  { tokenizer, template }: Codec,
): Prompt {
  const settings = renderSettings(trajectory)
  const calls = toolCallsOf(trajectory)
  const added = messages.map((message) => templateMessage(withResultText(message, trajectory), calls))
  const before = conversation(trajectory).map((message) => templateMessage(message, calls))
  const placeholder = placeholderFor([...before, ...added])
  const appended = afterReply(template, [{ role: 'user', content: 'U' }], added, placeholder, {
    ...settings,
    tools: [],
  })
  const ids = tokenizer.encode(appended)
  const last = segmentsOf(trajectory)
    .findLast((segment) => segment.ids.length > 0)
    ?.ids.at(-1)
  const isTurnClosed = ids.length > 0 && ids[0] === last && tokenizer.addedTokens.some(({ id }) => id === last)
  const isReplyLast = trajectory.segments.at(-1)?.kind === 'response'
  return {
    ids: isTurnClosed ? ids.slice(1) : ids,
    derivation: {
      kind: 'continuation',
      closesTurn:
        !isTurnClosed && ids[0] !== undefined && ids[0] === endOfTurnId({ tokenizer, template }, settings.options),
      check: startsAsGiven(trajectory)
        ? { kind: 'unknown' }
        : checkContinuation(
            isReplyLast ? before.slice(0, -1) : before,
            template,
            added,
            placeholder,
            appended,
            settings,
          ),
    },
    problems: [],
  }
}

/** The added token with which the template ends an assistant turn; undefined when it ends it with none. */
export function endOfTurnId({ tokenizer, template }: Codec, options: RenderSettings['options']): number | undefined {
  const placeholder = 'REPLY'
  const messages = [
    { role: 'user', content: 'U' },
    { role: 'assistant', content: placeholder },
  ]
  const text = rendered(() => template.render({ messages, tools: undefined, addGenerationPrompt: false, options }))
  if (text === undefined) return undefined
  const [first] = tokenizer.encode(text.slice(text.lastIndexOf(placeholder) + placeholder.length))
  return tokenizer.addedTokens.find(({ id }) => id === first)?.id
}

/** The JSON that templates print for a tool. */
export const templateTools = (tools: readonly ToolSpec[]): unknown[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }))

/** Templates ask whether there are tools by `tools is not none`, so an empty list would be announced. */
const toolsVariable = (tools: readonly ToolSpec[]): readonly unknown[] | undefined =>
  tools.length > 0 ? toolsOf(tools) : undefined

const toolsOf = onceFor(templateTools)

/** `calls`: those of the trajectory. A tool message names the id that the model itself wrote, where it wrote one. */
export function templateMessage(message: Message, calls: readonly ToolCall[]): TemplateMessage {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: templateContent(message.content),
        ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
        ...(message.toolCalls && {
          tool_calls: message.toolCalls.map(({ id, name, input }) => ({
            ...(id !== undefined && { id }),
            type: 'function',
            function: { name, arguments: input },
          })),
        }),
      }
    case 'tool': {
      const id = calls.find((call) => call.id === message.callId)?.writtenId ?? message.callId
      return {
        role: 'tool',
        ...(id !== undefined && { tool_call_id: id }),
        content: templateContent(message.content ?? ''),
      }
    }
    default:
      return { role: message.role, content: templateContent(message.content) }
  }
}

/** Parts that are all text become one: most templates know no parts, and those for images take a text too. */
const templateContent = (content: NonNullable<Message['content']>): unknown =>
  typeof content !== 'string' && content.every(({ type }) => type === 'text')
    ? content.map(({ text = '' }) => text).join('')
    : content

const renderSettings = ({ model }: Trajectory): RenderSettings => ({
  tools: model.tools,
  options: model.template?.options ?? {},
})

/** A text that stands nowhere else, so that the place after it is found surely. */
function placeholderFor(messages: readonly TemplateMessage[]): string {
  let placeholder = 'PLACEHOLDER-REPLY'
  const holdsIt = (value: unknown): boolean =>
    (typeof value === 'string' ? value : JSON.stringify([value])).includes(placeholder)
  while (messages.some((message) => Object.values(message).some(holdsIt))) placeholder += '-X'
  return placeholder
}

/** Renders a history, a placeholder reply and new messages; returns what stands behind the reply. Throws TemplateError. */
export function afterReply(
  template: ChatTemplate,
  history: readonly TemplateMessage[],
  added: readonly TemplateMessage[],
  placeholder: string,
  { tools, options }: RenderSettings,
): string {
  const text = template.render({
    messages: [...history, { role: 'assistant', content: placeholder }, ...added],
    tools: toolsVariable(tools),
    addGenerationPrompt: true,
    options,
  })
  const at = text.indexOf(placeholder)
  if (at < 0)
    throw new TemplateError(
      'the template does not print the content of an assistant message, so no turn can be continued',
    )
  if (text.includes(placeholder, at + 1))
    throw new TemplateError('the template prints an assistant message twice, so no turn can be continued')
  return text.slice(at + placeholder.length)
}

/** Its first tokens are text or ids as the user gave them: no messages are known for them. */
export const startsAsGiven = ({ segments: [first] }: Trajectory): boolean =>
  first?.kind === 'prompt' && first.derivation?.kind === 'given'

type Check = Extract<Derivation, { kind: 'continuation' }>['check']

/** Renders the real conversation, whose last reply is replaced, and compares what stands behind that reply. */
function checkContinuation(
  history: readonly TemplateMessage[],
  template: ChatTemplate,
  added: readonly TemplateMessage[],
  placeholder: string,
  appended: string,
  settings: RenderSettings,
): Check {
  try {
    const expected = afterReply(template, history, added, placeholder, settings)
    if (expected === appended) return { kind: 'held' }
    const at = commonText(expected, appended)
    return {
      kind: 'broken',
      why: 'in the whole conversation this template writes the new part otherwise than after a single question',
      expected: excerpt(expected, at),
      found: excerpt(appended, at),
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { kind: 'broken', why: `the whole conversation does not render: ${error.message}` }
  }
}

const EXCERPT = 200

const excerpt = (text: string, at: number): string =>
  text.length - at > EXCERPT
    ? `${text.slice(at, at + EXCERPT)}… (${text.length - at - EXCERPT} characters more)`
    : text.slice(at)
