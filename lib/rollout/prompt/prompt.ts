/**
 * Computes the ids of the next prompt. The first prompt is the whole template; every later one is only the new part, so
 * that sampled ids are never encoded again (continuation.ts). The difference of two renders would be wrong for
 * templates that look back (Qwen3 writes the last reply differently than earlier ones).
 */

import { hasSameJson } from '#lib/json/same-json.ts'
import { exactInput } from '#lib/json/written-json.ts'
import {
  type ChatTemplate,
  type RenderInput,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type {
  Message,
  Problem,
  PromptSource,
  ResponseSegment,
  ToolCall,
  Trajectory,
  Vocab,
} from '#lib/trajectory/format/trajectory.ts'
import { withResultText } from '#lib/trajectory/messages/conversation.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds, commonText } from '#lib/util/common-prefix.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import {
  type ArgumentsForm,
  type Continuation,
  continuationOf,
  type PlainTurn,
  plainTurn,
  type ReplyCall,
  type ReplyEnd,
  renderOrRefusal,
  templateCall,
} from './continuation.ts'
import { replyTexts, writtenReply } from './written-reply.ts'

/** Converts messages to ids and back. */
export interface PromptEncoder {
  readonly tokenizer: Tokenizer
  readonly template: ChatTemplate
  /**
   * Set if answers come from elsewhere: runs a computation on this encoder, fetches the missing data, and repeats it
   * until nothing is missing. The computation must have no side effects. Omitted: all data is available.
   */
  readonly settle?: <T>(compute: () => T, signal: AbortSignal) => Promise<T>
  /** True if the bytes of ids are fetched too. */
  readonly fetchesBytes?: true
}

/** Returns the result of a computation on an encoder, wherever its answers come from. */
export const computeSettled = async <T>(
  promptEncoder: PromptEncoder,
  compute: () => T,
  signal: AbortSignal,
): Promise<T> => (promptEncoder.settle ? promptEncoder.settle(compute, signal) : compute())

/** The ids of a prompt and how they were produced. */
export interface Prompt {
  readonly ids: readonly number[]
  readonly derivation: PromptSource
  /** Effects of the template that its user should know. */
  readonly problems: readonly Problem[]
}

/** The template's variables besides the messages. */
export interface TemplateVariables {
  readonly tools: readonly ToolSpec[]
  readonly options: Readonly<Record<string, unknown>>
}

/** Renders the whole conversation through the template. Throws TemplateError. */
export function firstPrompt(
  messages: readonly Message[],
  { tools, options }: TemplateVariables,
  { tokenizer, template }: PromptEncoder,
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
    text === renderOrRefusal(() => template.render({ ...input, tools: undefined }))
  return { ids: tokenizer.encode(text), derivation: { kind: 'whole' }, problems: isMute ? [TOOLS_NOT_PRINTED] : [] }
}

/** Templates of models without tool training leave the tools out silently. */
const TOOLS_NOT_PRINTED: Problem = {
  kind: 'template',
  message: 'The chat template does not print the tools: the model does not know that it has any.',
}

/**
 * Returns whether a text quotes the name of a tool that occurs nowhere else. Then a render without the tools would differ,
 * and need not be made. False for a template that is rendered elsewhere, because it may contain any name.
 */
function showsTools(
  text: string,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  options: TemplateVariables['options'],
  template: ChatTemplate,
): boolean {
  if (template.text === '') return false
  const elsewhere = [template.text, JSON.stringify([messages, options])]
  return tools.some(
    ({ name }) => /^\w+$/.test(name) && text.includes(`"${name}"`) && !elsewhere.some((other) => other.includes(name)),
  )
}

/**
 * Returns what `messages` add to a trajectory: the end of the open turn if the reply lacks it, the separator, the
 * messages and the next generation prompt. Tool messages take their text from the call that they name. Throws
 * TemplateError.
 */
export function nextPrompt(trajectory: Trajectory, messages: readonly Message[], promptEncoder: PromptEncoder): Prompt {
  const { tokenizer, template } = promptEncoder
  const { tools, options } = renderSettings(trajectory)
  const settings = { tools: toolsVariable(tools), options }
  const calls = toolCallsOf(trajectory)
  const added = messages.map((message) => templateMessage(withResultText(message, trajectory), calls))
  const last = trajectory.segments.at(-1)
  const reply = last?.kind === 'response' ? last : undefined
  const next = continuationOf(template, replyEnd(reply, trajectory, tokenizer), added, settings)
  const ids = tokenizer.encode(next.text)
  const isRepeated = reply !== undefined && ids.length > 0 && ids[0] === reply.ids.at(-1) && isAdded(ids[0], tokenizer)
  const own = isRepeated ? ids.slice(1) : ids
  return {
    ids: own,
    derivation: continuationSource(
      closesTurn(own, isRepeated ? '' : next.text, promptEncoder, options),
      () => checkPrompt(next, trajectory, added, template, settings),
      // A template that is rendered elsewhere answers only while the encoder can fetch.
      promptEncoder.settle ? 'now' : 'when it is read',
    ),
    problems: [],
  }
}

/**
 * Returns the source of a continuation. Its check renders the whole conversation, which takes longer than the rest of a prompt,
 * and nothing that is sent depends on it. So it is made when it is first read: when the event of the prompt is written or
 * shown, while the server generates.
 */
function continuationSource(closesTurn: boolean, check: () => Check, time: 'now' | 'when it is read'): PromptSource {
  let computed: Check | undefined
  const source = {
    kind: 'continuation',
    closesTurn,
    get check(): Check {
      computed ??= check()
      return computed
    },
  } as const
  return time === 'now' ? { ...source } : source
}

/** A whole conversation as messages, and the ids of its render. */
export interface RenderedConversation {
  readonly messages: readonly TemplateMessage[]
  readonly ids: readonly number[]
}

/**
 * Renders a whole conversation, as a server does that is sent messages: replies are texts again. `messages` are new. Throws
 * TemplateError.
 */
export function renderWholeConversation(
  trajectory: Trajectory,
  messages: readonly Message[],
  { tokenizer, template }: PromptEncoder,
): RenderedConversation {
  const { tools, options } = renderSettings(trajectory)
  const calls = toolCallsOf(trajectory)
  const all = [
    ...conversationMessages(trajectory, 'object'),
    ...messages.map((message) => templateMessage(withResultText(message, trajectory), calls)),
  ]
  const text = template.render({ messages: all, tools: toolsVariable(tools), addGenerationPrompt: true, options })
  return { messages: all, ids: tokenizer.encode(text) }
}

/**
 * Returns the added token with which the template ends an assistant turn; undefined if it uses none. It is the last token
 * after a reply that is the same at the end of the conversation and before a further question: Kimi-K3 closes the response
 * and the message before its <|end_of_msg|>, and Phi-3 adds the end of the text only to the last turn.
 */
export function endOfTurnId(
  { tokenizer, template }: PromptEncoder,
  options: TemplateVariables['options'],
): number | undefined {
  const turn = plainTurn(template, options)
  if (!turn) return undefined
  const addedIn = (ids: readonly number[]) => ids.filter((id) => isAdded(id, tokenizer))
  const [after, between] = [tokenizer.encode(turn.after), tokenizer.encode(turn.between)]
  const shared = addedIn(after.slice(0, commonIds(after, between)))
  if (shared.length > 0) {
    if (turn.between.startsWith(turn.after.trimEnd())) return shared.at(-1)
    // Command R7B writes a generation prompt even if none is requested, so the token that ends a question is used.
    const [ofQuestion = -1] = addedIn(tokenizer.encode(turn.before.slice(turn.beforeQuestion.length)))
    return shared.includes(ofQuestion) ? ofQuestion : shared.at(-1)
  }
  // gpt-oss ends the last turn with <|return|> and earlier ones with <|end|>: the model writes the first.
  const [ofLast] = addedIn(after)
  if (ofLast !== undefined) return ofLast
  // Apertus ends a turn only if another follows; the text that precedes any question is a header and ends nothing.
  const header = commonEnd(between, tokenizer.encode(turn.beforeQuestion))
  return addedIn(between.slice(0, between.length - header)).at(-1)
}

/** Returns the number of ids that two lists have in common at their ends. */
function commonEnd(a: readonly number[], b: readonly number[]): number {
  let count = 0
  while (count < a.length && a[a.length - 1 - count] === b[b.length - 1 - count]) count++
  return count
}

/**
 * Returns whether new ids begin with the end of the turn before them. `text` is the text of all of them, '' if the reply has
 * the first token of that end.
 */
function closesTurn(
  ids: readonly number[],
  text: string,
  promptEncoder: PromptEncoder,
  options: TemplateVariables['options'],
): boolean {
  // After a turn that the reply has closed, as most do, the template need not be examined.
  const mayClose = text !== '' || isAdded(ids[0], promptEncoder.tokenizer)
  const end = ids.length > 0 && mayClose ? endOfTurnId(promptEncoder, options) : undefined
  if (end === undefined || ids[0] === end) return end !== undefined
  const turn = plainTurn(promptEncoder.template, options) as PlainTurn
  return ids.includes(end) && text.startsWith(turn.after.trimEnd())
}

const isAdded = (id: number | undefined, tokenizer: Tokenizer): boolean =>
  id !== undefined && addedTexts(tokenizer).has(id)

const addedTexts = memoizeByIdentity(
  ({ addedTokens }: Tokenizer): ReadonlyMap<number, string> =>
    new Map(addedTokens.map(({ id, content }) => [id, content])),
)

/** The largest number of tokens at the end of a reply that are examined. */
const MOST_OF_AN_END = 32

function replyEnd(reply: ResponseSegment | undefined, { vocab }: Trajectory, tokenizer: Tokenizer): ReplyEnd {
  return reply
    ? endOfReply(reply.ids, vocab, reply.toolCalls.map(replyCall), tokenizer)
    : { calls: [], lastToken: undefined, tokensBefore: [], text: '' }
}

/** Returns the properties of a reply with these ids that decide what follows it. */
export function endOfReply(
  replyIds: readonly number[],
  vocab: Vocab,
  calls: readonly ReplyCall[],
  tokenizer: Tokenizer,
): ReplyEnd {
  const added = addedTexts(tokenizer)
  const ids = replyIds.slice(-MOST_OF_AN_END)
  const tokensBefore: string[] = []
  for (const id of ids.slice(0, -1).reverse()) {
    const token = added.get(id)
    if (token === undefined && textOf([id], vocab).trim() !== '') break
    if (token !== undefined) tokensBefore.push(token)
  }
  return { calls, lastToken: added.get(ids.at(-1) ?? -1), tokensBefore, text: textOf(ids, vocab) }
}

/** Only the name of a malformed call may be known. Its result is an error that names the problem. */
const replyCall = (call: ToolCall): ReplyCall => ({
  id: call.writtenId ?? call.id,
  name: call.name ?? MALFORMED_CALL,
  input: call.kind === 'parsed' ? call.input : {},
})

/** The placeholder for the name of a call whose name cannot be read. */
export const MALFORMED_CALL = 'malformed_tool_call'

/** Returns the JSON that templates print for a tool. */
export const templateTools = (tools: readonly ToolSpec[]): unknown[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }))

/** Templates check for tools with `tools is not none`, so an empty list would be announced. */
const toolsVariable = (tools: readonly ToolSpec[]): readonly unknown[] | undefined =>
  tools.length > 0 ? toolsOf(tools) : undefined

const toolsOf = memoizeByIdentity(templateTools)

/**
 * Returns a message in the form for templates. `calls` are those of the trajectory. A tool message names the id that
 * the model itself wrote, if it wrote one.
 */
export function templateMessage(message: Message, calls: readonly ToolCall[]): TemplateMessage {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: templateContent(message.content),
        ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
        ...(message.toolCalls && {
          tool_calls: message.toolCalls.map(({ id, name, ...written }) => ({
            ...(id !== undefined && { id }),
            type: 'function',
            function: { name, arguments: exactInput(written) },
          })),
        }),
      }
    case 'tool': {
      const id = calls.find((call) => call.id === message.callId)?.writtenId ?? message.callId
      return {
        role: 'tool',
        ...(id !== undefined && { tool_call_id: id }),
        ...(message.name !== undefined && { name: message.name }),
        content: templateContent(message.content ?? ''),
      }
    }
    default:
      return {
        role: message.role,
        ...(message.name !== undefined && { name: message.name }),
        content: templateContent(message.content),
      }
  }
}

/**
 * Joins parts that are all text, because most templates support no parts, and those for images accept a text too. Nothing is
 * written between them (decision 0102). An image is only its type, because a template that knows no images would print the whole
 * data URL.
 */
function templateContent(content: NonNullable<Message['content']>): unknown {
  if (typeof content === 'string') return content
  if (content.every(({ type }) => type === 'text')) return content.map(({ text = '' }) => text).join('')
  return content.map((part) => (part.type === 'image' ? { type: 'image' } : part))
}

const renderSettings = ({ model }: Trajectory): TemplateVariables => ({
  tools: model.tools,
  options: model.template?.options ?? {},
})

/** Returns whether the trajectory begins with text or ids of the user: there are no messages for them. */
export const startsWithRawPrompt = ({ segments: [first] }: Trajectory): boolean =>
  first?.kind === 'prompt' && first.derivation?.kind === 'given'

type Check = Extract<PromptSource, { kind: 'continuation' }>['check']

/**
 * Renders the real conversation, with the real reply, and compares its end with the continuation. A result that only one of
 * them has, or a turn that is closed differently, is a difference.
 */
function checkPrompt(
  { written, callLength, argumentsForm }: Continuation,
  trajectory: Trajectory,
  added: readonly TemplateMessage[],
  template: ChatTemplate,
  { tools, options }: Pick<RenderInput, 'tools' | 'options'>,
): Check {
  if (startsWithRawPrompt(trajectory)) return { kind: 'unknown' }
  const render = (messages: readonly TemplateMessage[]) =>
    renderOrRefusal(() => template.render({ messages, tools, addGenerationPrompt: true, options }))
  const messages = [...conversationMessages(trajectory, argumentsForm), ...added]
  const whole = render(messages)
  if (whole instanceof TemplateError)
    return { kind: 'broken', why: `the whole conversation does not render: ${whole.message}` }
  // After a text, the text itself must precede the compared part; after a call, the call belongs to it.
  const replyAt = messages.length - added.length - 1
  const before = callLength > 0 ? written.slice(0, callLength) : endOfContent(messages[replyAt])
  // Qwen3's template drops the part of a reply before </think>. With a text that it keeps, the new part follows that text.
  const followsAnyText = () => {
    const text = 'REPLY'
    const withReply = messages.with(replyAt, { ...messages[replyAt], role: 'assistant', content: text })
    const other = render(withReply)
    return !(other instanceof TemplateError) && follows(written, text, other)
  }
  if (whole.endsWith(written) && (callLength > 0 || follows(written, before, whole) || followsAnyText()))
    return { kind: 'held' }
  const found = written.slice(callLength)
  // A short text may occur often, so the occurrence that is closed in the same way is preferred.
  const closed = whole.lastIndexOf(before + found.slice(0, FEW))
  const place = before === '' ? -1 : closed < 0 ? whole.lastIndexOf(before) : closed
  const expected = place < 0 ? whole.slice(-written.length) : whole.slice(place + before.length)
  const at = commonText(expected, found)
  return {
    kind: 'broken',
    why: 'this template writes the new part differently in the whole conversation than after a single question',
    expected: excerpt(expected, at),
    found: excerpt(found, at),
  }
}

/** Returns whether a render ends with a text and the continuation. */
const follows = (written: string, text: string, whole: string): boolean =>
  whole.endsWith(written) &&
  whole
    .slice(0, whole.length - written.length)
    .trimEnd()
    .endsWith(text)

/**
 * Returns the conversation as an agent framework would send it, with separate thinking, content and calls of a reply. A message that is
 * unchanged is the same object each time, because a run needs its whole history in every turn, and its JSON if another thread renders it.
 */
function conversationMessages(trajectory: Trajectory, form: ArgumentsForm): TemplateMessage[] {
  // Of several calls with an id, the first one counts.
  const calls = new Map(
    toolCallsOf(trajectory)
      .map((call) => [call.id, call] as const)
      .reverse(),
  )
  return trajectory.segments.flatMap((segment) =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => promptMessage(message, trajectory, calls))
      : [replyMessage(segment, form, trajectory)],
  )
}

function promptMessage(
  message: Message,
  trajectory: Trajectory,
  calls: ReadonlyMap<string | undefined, ToolCall>,
): TemplateMessage {
  if (message.role !== 'tool') return plainMessage(message)
  const call = calls.get(message.callId)
  const current = templateMessage(withResultText(message, trajectory), call ? [call] : [])
  const known = results.get(message)
  if (known && hasSameJson(known, current)) return known
  results.set(message, current)
  return current
}

const plainMessage = memoizeByIdentity((message: Message) => templateMessage(message, []))

/** The last message that was made of each result. */
const results = new WeakMap<Message, TemplateMessage>()

function replyMessage(segment: ResponseSegment, form: ArgumentsForm, trajectory: Trajectory): TemplateMessage {
  const known: KnownReply = replies.get(segment) ?? replyTexts(writtenReply(segment, trajectory), segment.toolCalls)
  const { content, reasoning } = known
  const message = known[form] ?? {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(segment.toolCalls.length > 0 && {
      tool_calls: segment.toolCalls.map((call) => templateCall(replyCall(call), form)),
    }),
  }
  replies.set(segment, { ...known, [form]: message })
  return message
}

/** The texts of a reply, and its messages by the form of arguments. */
type KnownReply = ReturnType<typeof replyTexts> & { readonly [Form in ArgumentsForm]?: TemplateMessage }

const replies = new WeakMap<ResponseSegment, KnownReply>()

/** Returns the last characters of a reply's text. */
const endOfContent = (message: TemplateMessage | undefined): string =>
  message?.role === 'assistant' && typeof message.content === 'string' ? message.content.slice(-MOST_OF_AN_END) : ''

const EXCERPT = 200
/** Characters of the end of a turn that are compared. */
const FEW = 8

const excerpt = (text: string, at: number): string =>
  text.length - at > EXCERPT
    ? `${text.slice(at, at + EXCERPT)}… (${text.length - at - EXCERPT} characters more)`
    : text.slice(at)
