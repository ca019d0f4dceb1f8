/**
 * What the model writes as a reply: what the template adds for it behind the generation prompt. Only where the template
 * writes a last reply otherwise than behind that prompt is the text put together piece by piece.
 */
import type { Turn } from '../boundary.ts'
import { commonTags, firstTag, messageForm, type ThinkingState } from '../facts.ts'
import type { TemplateFacts } from '../report.ts'
import { renderedText, type Subject } from '../subject.ts'
import { type MessageForm, type ScriptCall, type ScriptMessage, type ScriptReply, templateMessages } from './script.ts'

/** A reply as the model writes it: with what ends its turn. */
export interface Writing {
  /** In the order in which they are written; each with the delimiters before it. */
  readonly parts: readonly { readonly kind: 'thinking' | 'content' | 'calls'; readonly text: string }[]
  /** The added token that ends the turn; empty: none. */
  readonly end: string
  /** learnt: the template itself writes it so behind its generation prompt. composed: put together of pieces. */
  readonly source: 'learnt' | 'composed'
}

/** `trained`: the template whose replies the model writes. It stays when the template is changed. */
export interface Trained {
  readonly subject: Subject
  readonly facts: TemplateFacts
  readonly delimiters: ThinkingState['delimiters']
}

type WrittenTurn = Pick<Turn, 'history' | 'reply'>

/** Learnt behind the very history where that is possible; else composed of what is learnt there, or behind a plain question. */
export function writingOf({ history, reply }: WrittenTurn, trained: Trained): Writing {
  const own = frameOf(history, reply, trained)
  return writingIn(own ?? frameOf([QUESTION], reply, trained) ?? { text: '', isAddition: false }, reply, trained)
}

/** How messages are given to the template, thinking included. */
export const trainedForm = ({ facts, delimiters }: Pick<Trained, 'facts' | 'delimiters'>): MessageForm => ({
  ...messageForm(facts),
  thinking: delimiters ?? facts.thinking,
})

/** Texts that stand nowhere else. */
const CONTENT = 'MARK-OF-CONTENT'
const THINKING = 'MARK-OF-THINKING'

const QUESTION: ScriptMessage = { role: 'user', content: 'MARK-OF-QUESTION' }

/** A reply as the template writes it, with marks in place of its thinking and content. */
interface Frame {
  readonly text: string
  /** The conversation with the reply begins with the prompt before it, and this is what it adds. */
  readonly isAddition: boolean
}

/**
 * What the conversation with the reply has that the prompt before it has not. Marks stand for thinking and content, so that a
 * template that trims or rewrites them does not change what the model wrote. Undefined where the two part before the
 * generation prompt.
 */
function frameOf(history: readonly ScriptMessage[], reply: ScriptReply, trained: Trained): Frame | undefined {
  const form = trainedForm(trained)
  const render = (messages: readonly ScriptMessage[], addGenerationPrompt: boolean) =>
    renderedText(trained.subject, templateMessages(messages, form), addGenerationPrompt)
  const prompt = render(history, true)
  const whole = render([...history, marked(reply)], false)
  if (prompt === undefined || whole === undefined) return undefined
  if (whole.startsWith(prompt)) return { text: whole.slice(prompt.length), isAddition: true }
  const plain = render(history, false)
  const shared = commonTags(prompt, whole)
  return plain !== undefined && prompt.startsWith(plain) && shared >= plain.length
    ? { text: whole.slice(shared), isAddition: false }
    : undefined
}

const marked = (reply: ScriptReply): ScriptReply => ({
  ...reply,
  thinking: reply.thinking === undefined ? undefined : THINKING,
  content: reply.content === '' ? '' : CONTENT,
})

/** A part of the reply that the frame lacks is written as most models do: thinking first, calls last. */
function writingIn({ text, isAddition }: Frame, reply: ScriptReply, trained: Trained): Writing {
  const { thinking, content, calls } = reply
  const { open = '', close = '' } = trained.delimiters ?? {}
  const thinkingAt = thinking === undefined ? -1 : text.indexOf(THINKING)
  const behindThinking = thinkingAt < 0 ? 0 : thinkingAt + THINKING.length
  // Between thinking and a call stands only the first tag of what stands between thinking and content.
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
  const missing: Writing['parts'] = [
    ...(thinking !== undefined && thinkingAt < 0
      ? [{ kind: 'thinking', text: `${open}${thinking}${close}` } as const]
      : []),
    ...(content !== '' && contentAt < 0 ? [{ kind: 'content', text: content } as const] : []),
  ]
  const lostCalls: Writing['parts'] =
    calls.length > 0 && !named ? [{ kind: 'calls', text: calls.map(hermesCall).join('\n') }] : []
  let from = 0
  const parts = inOrder.map(({ kind, end: own }, index): Writing['parts'][number] => {
    const next = inOrder[index + 1]
    // What stands between two parts belongs to the one behind it; what follows calls, to that too.
    const to = next === undefined ? body.length : (own ?? next.start)
    const stretch = body.slice(from, to)
    from = to
    return { kind, text: stretch.replace(THINKING, () => thinking ?? '').replace(CONTENT, () => content) }
  })
  const isWhole = missing.length + lostCalls.length === 0
  const bare: Writing['parts'] = parts.length === 0 && isWhole ? [{ kind: 'content', text: body }] : parts
  return {
    // Calls without content keep their place behind thinking that is printed.
    parts:
      bare[0]?.kind === 'thinking'
        ? [bare[0], ...missing, ...bare.slice(1), ...lostCalls]
        : [...missing, ...bare, ...lostCalls],
    end,
    source: isAddition && isWhole ? 'learnt' : 'composed',
  }
}

/** Where the first and the last call are named; undefined where there is none, or one of them is not. */
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

/** The reply and the token at which the model stops; some templates have one of its own for a turn with calls. */
function cutEnd(
  text: string,
  from: number,
  { calls }: ScriptReply,
  { subject, facts }: Trained,
): { readonly body: string; readonly end: string } {
  const close = facts.endOfTurn === '' ? -1 : text.indexOf(facts.endOfTurn, from)
  if (close >= 0) return { body: text.slice(0, close), end: facts.endOfTurn }
  const trimmed = text.trimEnd()
  const end = subject.tokenizer.addedTokens.find(
    ({ special, content }) => special && trimmed.endsWith(content) && trimmed.length - content.length >= from,
  )
  if (end) return { body: trimmed.slice(0, -end.content.length), end: end.content }
  // A separator is no part of a reply that nothing ends.
  return calls.length === 0 ? { body: trimmed, end: facts.endOfTurn } : { body: text, end: '' }
}

const hermesCall = ({ name, arguments: json }: ScriptCall): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`
