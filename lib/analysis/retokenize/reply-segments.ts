/** Splits the tokens of a rendered conversation into segments: each reply is a response, and the tokens between replies are prompts. */

import { type ConversationTokens, messageRanges } from '#lib/templates/loss-mask/conversation.ts'
import type { PromptSegment, ResponseSegment, Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ConversationPart } from './recorded-messages.ts'

/** A segment without think blocks and calls. */
export type BareSegment = PromptSegment | ResponseSegment

/** Returns one response for each reply, with prompts between. A reply that the template leaves out has no tokens. */
export function replySegments(
  parts: readonly ConversationPart[],
  conversation: ConversationTokens,
): { readonly segments: readonly BareSegment[]; readonly caveats: readonly string[] } {
  const { ids } = conversation.encoding
  const ranges = replyRanges(parts, conversation)
  const segments: BareSegment[] = []
  const caveats = new Set<string>()
  let messages: PromptSegment['messages'][number][] = []
  let at = 0
  let reply = 0
  const closePrompt = (end: number) => {
    if (end > at || messages.length > 0) segments.push({ kind: 'prompt', ids: ids.slice(at, end), messages })
    messages = []
    at = end
  }
  for (const part of parts) {
    if (part.kind === 'context') {
      messages.push(...part.messages)
      continue
    }
    const { start, end } = elementAt(ranges, reply++)
    closePrompt(start)
    const forced = forcedMask(part, { start, end }, conversation)
    if (forced === 'unknown') caveats.add(FORCED_LOST)
    segments.push({
      kind: 'response',
      ids: ids.slice(start, end),
      ...(Array.isArray(forced) && { mask: forced }),
      thinks: [],
      toolCalls: [],
    })
    at = end
  }
  closePrompt(ids.length)
  if (ranges.length > 0 && ranges.every(({ start, end }) => start === end)) caveats.add(NO_REPLIES)
  return { segments, caveats: [...caveats] }
}

const NO_REPLIES =
  'This template does not show which tokens are replies: all tokens count as context, and none as trained.'
const FORCED_LOST =
  'A reply begins with given text that the template’s output does not contain, so it counts as trained.'

/** Returns one half-open range of tokens for each reply, in order and without overlap. It is empty for a reply that is left out. */
function replyRanges(
  parts: readonly ConversationPart[],
  { messages, parts: kinds }: ConversationTokens,
): readonly Span[] {
  const own = messageRanges(messages.map((message, token) => (isWritten(kinds[token]) ? message : undefined)))
  const whole = messageRanges(messages)
  let message = 0
  // End of the context messages that the template has written so far. A reply that is left out is placed there.
  let read = 0
  let at = 0
  return parts.flatMap((part): Span[] => {
    if (part.kind === 'context') {
      for (const _ of part.messages) read = Math.max(read, whole.get(message++)?.end ?? 0)
      return []
    }
    const index = message++
    const range = own.get(index)
    const start = Math.max(at, range?.start ?? whole.get(index)?.end ?? read)
    const end = Math.max(start, range?.end ?? start)
    at = end
    return [{ start, end }]
  })
}

const isWritten = (part: ConversationTokens['parts'][number] | undefined): boolean => part === 'reply' || part === 'end'

/** Returns the mask of a reply that contains given text; undefined if the model wrote all of it; `unknown` if its text is not found. */
function forcedMask(
  { text, forced }: Extract<ConversationPart, { kind: 'reply' }>,
  { start, end }: Span,
  { encoding: { starts, ends }, rendering }: ConversationTokens,
): (0 | 1)[] | 'unknown' | undefined {
  if (forced.length === 0) return undefined
  const offset = rendering.text.indexOf(text, starts[start])
  if (offset < 0 || offset + text.length > elementAt(starts, end)) return 'unknown'
  return Array.from({ length: end - start }, (_, index) => {
    const [from, to] = [elementAt(starts, start + index) - offset, elementAt(ends, start + index) - offset]
    return forced.some((range) => range.start <= from && to <= range.end) ? 0 : 1
  })
}
