/**
 * What the model writes as a reply: the text that the template adds for it after the generation prompt. Only if the template writes a last
 * reply differently is the text composed piece by piece.
 */
import type { ReplyBoundary } from '../boundary.ts'
import { commonTags, firstTag, messageForm, type ThinkingState } from '../facts.ts'
import type { TemplateFacts } from '../report.ts'
import { renderedText, type Subject } from '../subject.ts'
import { type MessageForm, type ScriptCall, type ScriptMessage, type ScriptReply, templateMessages } from './script.ts'

/** A reply as the model writes it, including the end of its turn. */
export interface WrittenReplyText {
  /** Parts in the order of the text, each with the delimiters before it. */
  readonly parts: readonly { readonly kind: 'thinking' | 'content' | 'calls'; readonly text: string }[]
  /** The added token that ends the turn; '' if there is none. */
  readonly end: string
  /** rendered: the template itself writes this text after its generation prompt. composed: the text is composed of pieces. */
  readonly source: 'rendered' | 'composed'
}

/** The template whose replies the model writes. It remains the same while the template is changed. */
export interface TrainingTemplate {
  readonly subject: Subject
  readonly facts: TemplateFacts
  readonly delimiters: ThinkingState['delimiters']
}

type WrittenTurn = Pick<ReplyBoundary, 'history' | 'reply'>

/**
 * Returns the reply as the template renders it after this very history; if that is impossible, composed of what it renders there or after
 * a plain question.
 */
export function writingOf({ history, reply }: WrittenTurn, trained: TrainingTemplate): WrittenReplyText {
  const own = frameOf(history, reply, trained)
  return writingIn(own ?? frameOf([QUESTION], reply, trained) ?? { text: '', isAddition: false }, reply, trained)
}

/** Returns the form in which messages are given to the template, thinking included. */
export const trainedForm = ({ facts, delimiters }: Pick<TrainingTemplate, 'facts' | 'delimiters'>): MessageForm => ({
  ...messageForm(facts),
  thinking: delimiters ?? facts.thinking,
})

/** Texts that occur nowhere else. */
const CONTENT = 'MARK-OF-CONTENT'
const THINKING = 'MARK-OF-THINKING'

const QUESTION: ScriptMessage = { role: 'user', content: 'MARK-OF-QUESTION' }

/** A reply as the template writes it, with marks in place of its thinking and content. */
interface Frame {
  readonly text: string
  /** Whether the conversation with the reply begins with the prompt before it, so that `text` is what the reply adds. */
  readonly isAddition: boolean
}

/**
 * Returns the text that the conversation with the reply has beyond the prompt before it. Marks replace thinking and content, so that a
 * template that trims or rewrites them does not change what the model wrote. Returns undefined if the two differ before the generation
 * prompt.
 */
function frameOf(history: readonly ScriptMessage[], reply: ScriptReply, trained: TrainingTemplate): Frame | undefined {
  const form = trainedForm(trained)
  const render = (messages: readonly ScriptMessage[], addGenerationPrompt: boolean) =>
    renderedText(trained.subject, templateMessages(messages, form), addGenerationPrompt)
  const prompt = render(history, true)
  const whole = render([...history, withMarks(reply)], false)
  if (prompt === undefined || whole === undefined) return undefined
  if (whole.startsWith(prompt)) return { text: whole.slice(prompt.length), isAddition: true }
  const plain = render(history, false)
  const shared = commonTags(prompt, whole)
  return plain !== undefined && prompt.startsWith(plain) && shared >= plain.length
    ? { text: whole.slice(shared), isAddition: false }
    : undefined
}

const withMarks = (reply: ScriptReply): ScriptReply => ({
  ...reply,
  thinking: reply.thinking === undefined ? undefined : THINKING,
  content: reply.content === '' ? '' : CONTENT,
})

/** Fills in the frame. A part of the reply that the frame lacks is written as by most models: thinking first, calls last. */
function writingIn({ text, isAddition }: Frame, reply: ScriptReply, trained: TrainingTemplate): WrittenReplyText {
  const { thinking, content, calls } = reply
  const { open = '', close = '' } = trained.delimiters ?? {}
  const thinkingAt = thinking === undefined ? -1 : text.indexOf(THINKING)
  const behindThinking = thinkingAt < 0 ? 0 : thinkingAt + THINKING.length
  // Between thinking and a call, only the first of the tags between thinking and content is written.
  const closeLength = [close, firstTag(close.trim())].find((tag) => text.startsWith(tag, behindThinking))?.length ?? 0
  const contentAt = content === '' ? -1 : text.indexOf(CONTENT, behindThinking)
  const behindContent = contentAt < 0 ? 0 : contentAt + CONTENT.length
  const named = placesOfCalls(text, calls)
  const { body, end } = cutEnd(text, Math.max(behindThinking, behindContent, named?.last ?? 0), reply, trained)
  const printed = [
    {
      kind: 'thinking',
      start: thinkingAt,
      end: behindThinking + closeLength,
    },
    { kind: 'content', start: contentAt, end: behindContent },
    { kind: 'calls', start: named?.first ?? -1, end: undefined },
  ] as const
  const inOrder = printed.filter(({ start }) => start >= 0).sort((a, b) => a.start - b.start)
  const missing: WrittenReplyText['parts'] = [
    ...(thinking !== undefined && thinkingAt < 0
      ? [{ kind: 'thinking', text: `${open}${thinking}${close}` } as const]
      : []),
    ...(content !== '' && contentAt < 0 ? [{ kind: 'content', text: content } as const] : []),
  ]
  const lostCalls: WrittenReplyText['parts'] =
    calls.length > 0 && !named ? [{ kind: 'calls', text: calls.map(hermesCall).join('\n') }] : []
  let from = 0
  const parts = inOrder.map(({ kind, end: own }, index): WrittenReplyText['parts'][number] => {
    const next = inOrder[index + 1]
    // Text between two parts belongs to the second, except that text after calls belongs to the calls.
    const to = next === undefined ? body.length : (own ?? next.start)
    const fragment = body.slice(from, to)
    from = to
    return { kind, text: fragment.replace(THINKING, () => thinking ?? '').replace(CONTENT, () => content) }
  })
  const isWhole = missing.length + lostCalls.length === 0
  const bare: WrittenReplyText['parts'] = parts.length === 0 && isWhole ? [{ kind: 'content', text: body }] : parts
  return {
    // Calls without content remain after thinking that is printed.
    parts:
      bare[0]?.kind === 'thinking'
        ? [bare[0], ...missing, ...bare.slice(1), ...lostCalls]
        : [...missing, ...bare, ...lostCalls],
    end,
    source: isAddition && isWhole ? 'rendered' : 'composed',
  }
}

/** Returns where the first and the last call are named; undefined if there are no calls or one of them is not named. */
function placesOfCalls(
  text: string,
  calls: readonly ScriptCall[],
): { readonly first: number; readonly last: number } | undefined {
  let at = 0
  const places = calls.map(({ name, id }) => {
    const printed = text.includes(name) ? name : id
    const place = text.indexOf(printed, at)
    at = place + printed.length
    return place
  })
  return places.length === 0 || places.includes(-1) ? undefined : { first: places[0] ?? 0, last: at }
}

/** Splits the text into the reply and the token at which the model stops. Some templates have a token of their own for turns with calls. */
function cutEnd(
  text: string,
  from: number,
  { calls }: ScriptReply,
  { subject, facts }: TrainingTemplate,
): { readonly body: string; readonly end: string } {
  const close = facts.endOfTurn === '' ? -1 : text.indexOf(facts.endOfTurn, from)
  if (close >= 0) return { body: text.slice(0, close), end: facts.endOfTurn }
  const trimmed = text.trimEnd()
  const end = subject.tokenizer.addedTokens.find(
    ({ special, content }) => special && trimmed.endsWith(content) && trimmed.length - content.length >= from,
  )
  if (end) return { body: trimmed.slice(0, -end.content.length), end: end.content }
  // A separator is not part of a reply that no token ends.
  return calls.length === 0 ? { body: trimmed, end: facts.endOfTurn } : { body: text, end: '' }
}

const hermesCall = ({ name, arguments: json }: ScriptCall): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`
