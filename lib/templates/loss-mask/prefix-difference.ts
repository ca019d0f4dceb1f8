/**
 * The mask that trainers make by rendering prefixes (TRL, verl): for each assistant message, the tokens that the conversation that ends
 * with it has beyond the conversation before it with the generation prompt. Trainers cut by the number of tokens, whether or not the longer
 * begins with the shorter; this module does the same, and reports where it does not.
 */
import { commonIds } from '#lib/util/common-prefix.ts'
import { type ConversationTokens, messageRanges } from './conversation.ts'
import { maskedTokensBuilder, replyParts } from './masked-tokens.ts'
import { brokenPrefix, failedRender, type OwnTokens, type RenderedPart, renderPart } from './renders.ts'
import type { Break, TokenRange } from './report.ts'

/**
 * Returns the tokens of the whole conversation, in which the difference of each assistant message replaces the tokens there. Yields before
 * each message.
 */
export function* prefixDifference(conversation: ConversationTokens): Generator<void, OwnTokens> {
  const { input, roles, tokenizer, rendering, encoding, endOfTurnId } = conversation
  const bytes = (id: number): Uint8Array => tokenizer.bytes(id)
  const whole: RenderedPart = { input, text: rendering.text, ids: encoding.ids }
  const ranges = messageRanges(conversation.messages)
  const own = maskedTokensBuilder(bytes)
  const breaks: Break[] = []
  const merged: TokenRange[] = []
  let cursor = 0
  const addContext = (end: number): void => {
    const from = cursor
    cursor = Math.max(cursor, end)
    own.add(whole.ids.slice(from, cursor), (index) => ({
      trained: false,
      part: conversation.parts[from + index] ?? 'unknown',
      message: conversation.messages[from + index],
    }))
  }
  for (const [message, role] of roles.entries()) {
    if (role !== 'assistant') continue
    yield
    const before = renderPart(conversation, input.messages.slice(0, message), true)
    const after = renderPart(conversation, input.messages.slice(0, message + 1), false)
    if (!before.ok || !after.ok) {
      const error = before.ok ? (after.ok ? undefined : after.error) : before.error
      if (error) breaks.push(failedRender(message, 'the conversation up to here cannot be rendered separately', error))
      continue
    }
    const cut = before.value.ids.length
    const holds = commonIds(before.value.ids, after.value.ids) === cut
    const isMerge = !holds && after.value.text.startsWith(before.value.text)
    if (!holds)
      breaks.push(brokenPrefix(conversation, message, isMerge ? MERGED : OPENED_OTHERWISE, before.value, after.value))

    const isThere = commonIds(after.value.ids, whole.ids) === after.value.ids.length
    const isSplit = !isThere && whole.text.startsWith(after.value.text)
    const range = isThere
      ? { start: Math.min(cut, after.value.ids.length), end: after.value.ids.length }
      : isSplit
        ? tokensWithin(conversation, before.value.text.length, after.value.text.length)
        : rangeInWhole(conversation, ranges.get(message), before.value.ids)
    if (!isThere) {
      const why = isSplit ? JOINED : range ? REWRITTEN : DROPPED
      breaks.push(brokenPrefix(conversation, message, why, after.value, whole))
    }
    if (!range) continue

    addContext(range.start)
    if (isMerge) merged.push({ start: own.length() - 1, end: own.length() })
    const delta = after.value.ids.slice(cut)
    const parts = replyParts(delta, bytes, endOfTurnId)
    own.add(delta, (index) => ({ trained: true, part: parts[index] ?? 'reply', message }))
    cursor = Math.max(cursor, range.end)
    if (isSplit) merged.push({ start: own.length(), end: own.length() + 1 })
  }
  addContext(whole.ids.length)
  return { ...own.build(), breaks, merged }
}

const MERGED = 'one token contains the end of the generation prompt and the start of the reply'
const OPENED_OTHERWISE = 'the template opens this reply differently than its generation prompt does'
const JOINED = 'in the whole conversation one token contains the end of this reply and the start of what follows'
const REWRITTEN =
  'the whole conversation renders this or an earlier message differently than the conversation that ends with it'
const DROPPED = 'the whole conversation does not show this message'

/** Returns the tokens within a range of the text, without those that extend beyond its end. */
function tokensWithin({ encoding }: ConversationTokens, start: number, end: number): TokenRange {
  const first = encoding.starts.findIndex((offset) => offset >= start)
  const after = encoding.ends.findIndex((offset) => offset > end)
  return { start: first, end: Math.max(first, after === -1 ? encoding.ids.length : after) }
}

/**
 * Returns where the whole conversation has the reply of a message: by the source map, without what opens the turn. If the source map knows
 * no message at all, the reply is after the longest common beginning with the prompt. undefined: nowhere.
 */
function rangeInWhole(
  { parts, messages, encoding }: ConversationTokens,
  range: TokenRange | undefined,
  prompt: readonly number[],
): TokenRange | undefined {
  if (!range) {
    if (messages.some((message) => message !== undefined)) return undefined
    const place = commonIds(prompt, encoding.ids)
    return { start: place, end: place }
  }
  let start = range.start
  while (start < range.end && parts[start] === 'header') start++
  return { start, end: range.end }
}
