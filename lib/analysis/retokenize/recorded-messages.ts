/**
 * Returns the messages of a trajectory as a chat pipeline keeps them. structured: thinking is separate from the content, and calls are
 * parsed, with arguments that keep every digit. raw: a reply is the text that the model wrote.
 */

import type { TextRange } from '#lib/parsers/parser.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import { type WrittenReply, writtenReply } from '#lib/rollout/prompt/written-reply.ts'
import { contextMessage, replyMessageJson } from '#lib/templates/document/trajectory-input.ts'
import type { Message, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { withResultText } from '#lib/trajectory/messages/conversation.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { PromptView, SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { BuildResult } from '../compare/shown-side.ts'

/** A part of a conversation: messages of the context, or one reply of the model. `json` holds messages as JSON texts. */
export type ConversationPart =
  /** The messages that the model read between two replies. */
  | { readonly kind: 'context'; readonly messages: readonly Message[]; readonly json: readonly string[] }
  | {
      readonly kind: 'reply'
      readonly json: string
      /** Text of the reply as the model wrote it. */
      readonly text: string
      /** Recorded ids of the reply. */
      readonly ids: readonly number[]
      /** Ranges of the text that the prompt gave to the model. */
      readonly forced: readonly TextRange[]
      /** Calls of the responses that make up the reply. Their ranges refer to the text of the reply. */
      readonly calls: readonly ToolCall[]
    }

/** The conversation of a trajectory in order. */
export interface RecordedConversation {
  readonly parts: readonly ConversationPart[]
  /** True if the trajectory ends with a prompt, so that the model must reply next. */
  readonly isPrompt: boolean
}

/** Returns the conversation of a trajectory, which must have the texts of all its ids and its calls; or why it has no messages. */
export function recordedConversation(
  trajectory: TrajectoryView,
  mode: 'structured' | 'raw',
): BuildResult<RecordedConversation> {
  const { segments } = trajectory
  if (!segments.some((segment) => segment.kind === 'prompt' && segment.messages.length > 0)) return WITHOUT_MESSAGES
  const calls = toolCallsOf(trajectory)
  const parts: ConversationPart[] = []
  let reply: OpenReply | undefined
  const closeReply = () => {
    if (reply) parts.push(replyPart(reply, mode))
    reply = undefined
  }
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'response') {
      reply = joinParts(reply, { ...writtenReply(segment, trajectory), ids: Array.from(segment.ids) }, false)
      continue
    }
    if (segment.messages.length > 0) {
      closeReply()
      const messages = segment.messages.map((message) => withResultText(message, trajectory))
      parts.push({ kind: 'context', messages, json: messages.map((message) => contextMessage(message, calls)) })
      continue
    }
    const text = textOf(segment.ids, trajectory.vocab)
    if (index === 0 && text.trim() !== '') return RAW_PROMPT
    if (isGlue(segment, text, trajectory)) closeReply()
    else if (segments[index + 1]?.kind === 'response')
      reply = joinParts(reply, { ...NOTHING, text, ids: Array.from(segment.ids) }, true)
    else return RAW_PROMPT
  }
  closeReply()
  return { ok: true, value: { parts, isPrompt: endsWithPrompt(segments) } }
}

/** Returns the input of the chat template as JSON texts, so that 1.0 stays 1.0. `tools` is empty if there are none. */
export const recordedTexts = (
  { parts, isPrompt }: RecordedConversation,
  { model }: Pick<TrajectoryView, 'model'>,
): { readonly messages: string; readonly tools: string; readonly options: string } => ({
  messages: `[${parts.flatMap(({ json }) => json).join(',\n')}]`,
  tools: model.tools.length === 0 ? '' : JSON.stringify(templateTools(model.tools)),
  options: JSON.stringify({
    ...model.template?.options,
    add_generation_prompt: isPrompt,
    continue_final_message: false,
  }),
})

const WITHOUT_MESSAGES: BuildResult<never> = {
  ok: false,
  why: 'The file contains ids, but not the messages that they were rendered from.',
  hint: 'Compare as text, which needs no messages. Or open a file of the same run that contains its messages.',
}

const RAW_PROMPT: BuildResult<never> = {
  ok: false,
  why: 'A part of the prompt was given as text or ids and belongs to no message, so no chat pipeline would have it.',
  hint: 'Compare as text, which needs no messages.',
}

/** Returns true for a prompt that a template writes around messages: it contains special tokens, or only spaces. */
function isGlue({ ids }: PromptView, text: string, { model }: TrajectoryView): boolean {
  const special = new Set(model.tokenizer?.specialIds)
  return text.trim() === '' || Array.from(ids).some((id) => special.has(id))
}

/** Returns true if the last message is not a reply. A prompt without messages after the last reply does not count. */
function endsWithPrompt(segments: readonly SegmentView[]): boolean {
  const last = segments.findLast((segment) => segment.kind === 'response' || segment.messages.length > 0)
  return last?.kind !== 'response'
}

interface OpenReply extends WrittenReply {
  readonly ids: readonly number[]
  readonly forced: readonly TextRange[]
}

/** Appends a text to a reply. Two responses in a row are one reply, because the second continues the first. */
function joinParts(
  before: OpenReply = NOTHING,
  { text, ids, thinks, calls, markup }: Omit<OpenReply, 'forced'>,
  isForced: boolean,
): OpenReply {
  const by = before.text.length
  const moved = <R extends TextRange>(range: R): R => ({ ...range, start: range.start + by, end: range.end + by })
  const all = moved({ start: 0, end: text.length })
  return {
    text: before.text + text,
    ids: [...before.ids, ...ids],
    thinks: [...before.thinks, ...thinks.map(moved)],
    calls: [...before.calls, ...calls.map((call) => movedCall(call, moved))],
    markup: [...before.markup, ...markup.map(moved)],
    forced: isForced ? [...before.forced, all] : before.forced,
  }
}

const NOTHING: OpenReply = { text: '', ids: [], thinks: [], calls: [], markup: [], forced: [] }

function movedCall(call: ToolCall, moved: (range: TextRange) => TextRange): ToolCall {
  const text = moved(call.text)
  if (call.kind === 'malformed') return { ...call, text }
  return { ...call, text, arguments: call.arguments.map((one) => ({ ...one, text: moved(one.text) })) }
}

const replyPart = ({ text, ids, forced, ...reply }: OpenReply, mode: 'structured' | 'raw'): ConversationPart => ({
  kind: 'reply',
  json: mode === 'raw' ? JSON.stringify({ role: 'assistant', content: text }) : replyMessageJson({ text, ...reply }),
  text,
  ids,
  forced,
  calls: reply.calls,
})
