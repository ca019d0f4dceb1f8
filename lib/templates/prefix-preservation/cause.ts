/** Finds out why turn n+1 differs from turn n with its reply: from the first difference and the text there. */

import { outputLine, type Rendering } from '#lib/templates/jinja/rendering.ts'
import type { AddedToken } from '#lib/tokenizer/tokenizer.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { escapePattern } from '#lib/util/text/escape-pattern.ts'
import type { Region, RenderComparison } from './compare.ts'
import type { ScriptMessage } from './fix/script.ts'
import type { CauseKind, DifferenceCause } from './report.ts'

/** The parts of a message of turn n+1, as it was given. */
export interface MessageParts {
  readonly role: string
  readonly content: string
  readonly thinking: string | undefined
  readonly callNames: readonly string[]
}

/** Returns the parts of a scripted message. */
export const messagePartsOf = (message: ScriptMessage): MessageParts => ({
  role: message.role,
  content: message.content,
  thinking: message.role === 'assistant' ? message.thinking : undefined,
  callNames: message.role === 'assistant' ? message.calls.map(({ name }) => name) : [],
})

/** A comparison, with all that its cause is derived from. */
export interface DifferenceCase {
  readonly comparison: RenderComparison
  /** Messages of turn n+1. */
  readonly messages: readonly MessageParts[]
  /** Index of the reply among the messages. */
  readonly replyIndex: number
  /** Think delimiters without whitespace; undefined if none are known. */
  readonly tags: { readonly open: string; readonly close: string } | undefined
  /** The token that ends a turn, as the template writes it after the last reply; '' if there is none. */
  readonly endOfTurn: string
  readonly addedTokens: readonly AddedToken[]
}

/** The place of the first difference. */
export interface FirstDifference {
  /** Offset in both texts from which they differ. */
  readonly offset: number
  /** Offset of the first differing token, in the text in which it is earlier: a delimiter may share its first letters with text. */
  readonly tokenOffset: number
  /** Whether only the tokens differ there, and not the texts. */
  readonly tokensOnly: boolean
  readonly region: Region
  /** Index of the message; undefined outside of all messages. */
  readonly message: number | undefined
  readonly line: number | undefined
  readonly expectedLine: number | undefined
}

/** Locates the first difference, given the index of the first token that differs. */
export function locateFirstDifference(
  { expected, rendered, before }: RenderComparison,
  tokenIndex: number,
): FirstDifference {
  const textOffset = commonText(expected.text, rendered.text)
  const [ours, theirs] = [expected.starts(), rendered.starts()]
  const tokenOffset = Math.min(
    ours[tokenIndex] ?? expected.text.length,
    theirs[tokenIndex] ?? rendered.text.length,
    textOffset,
  )
  // Only the tokens differ if both sides reach the same token boundary before the texts differ.
  const isSameText = textOffset === expected.text.length && textOffset === rendered.text.length
  const bounds = new Set(ours.slice(tokenIndex + 1))
  const tokensOnly =
    isSameText || theirs.slice(tokenIndex + 1).some((start) => start <= textOffset && bounds.has(start))
  const offset = tokensOnly ? tokenOffset : textOffset
  const piece = pieceAt(rendered.rendering, offset)
  const wrote = before && offset < before.text.length ? pieceAt(before, offset) : undefined
  return {
    offset,
    tokenOffset,
    tokensOnly,
    region: expected.regions().find(({ end }) => offset < end)?.kind ?? 'added',
    message: piece ? piece.message : wrote?.message,
    line: piece && outputLine(piece),
    expectedLine: wrote && outputLine(wrote),
  }
}

const pieceAt = ({ pieces }: Rendering, offset: number): Rendering['pieces'][number] | undefined =>
  pieces.find(({ start, end }) => start <= offset && offset < end)

/** Returns the cause of a difference, the most specific that applies. */
export function causeOf(subject: DifferenceCase, place: FirstDifference): DifferenceCause {
  const { expected, rendered, isTime } = subject.comparison
  if (isTime) return cause('time', 'The template prints the time of the render, which is another one at the next turn.')
  if (place.tokensOnly)
    return cause(
      'merge',
      subject.comparison.textDiffers
        ? 'Encoding the whole text gives different tokens here than the recorded ones. The text after this position differs too.'
        : 'The text is the same, but encoding the whole text gives different tokens than the recorded ones.',
    )
  const a = expected.text.slice(place.tokenOffset)
  const b = rendered.text.slice(place.tokenOffset)
  return (
    emptyThink(subject, place, a, b) ??
    findLostThinking(subject, place) ??
    changedMessages(subject, place) ??
    endOfTurn(subject, place) ??
    whitespace(expected.text, rendered.text, place) ??
    byRegion(subject, place)
  )
}

const cause = (kind: CauseKind, text: string): DifferenceCause => ({ kind, text })

/** Returns the cause if only one side has an empty think block. */
function emptyThink(
  { tags }: DifferenceCase,
  { region }: FirstDifference,
  a: string,
  b: string,
): DifferenceCause | undefined {
  // If the template changes the text before the reply, the delimiter alone cannot be recognized.
  if (!tags || !/^[<[]/.test(tags.open)) return undefined
  const block = new RegExp(`^\\s*${escapePattern(tags.open)}\\s*${escapePattern(tags.close)}`)
  const [hasExpected, hasRendered] = [block.test(a), block.test(b)]
  if (hasExpected === hasRendered) return undefined
  if (hasRendered)
    return cause('empty-think-inserted', 'The template puts an empty think block before a reply that has none.')
  return region === 'prompt'
    ? cause(
        'generation-prompt',
        'The generation prompt ends with an empty think block, which the template omits once the reply is in the history.',
      )
    : cause(
        'empty-think-dropped',
        region === 'history'
          ? 'The template removes an empty think block from an earlier reply.'
          : 'The template removes the empty think block from the reply once something follows it.',
      )
}

function findLostThinking(
  subject: DifferenceCase,
  { region, message, offset }: FirstDifference,
): DifferenceCause | undefined {
  const { comparison, messages, replyIndex, tags } = subject
  const isReply = region === 'thinking' || region === 'prompt'
  if (region !== 'history' && !isReply) return undefined
  const index = isReply ? replyIndex : (message ?? thoughtAt(subject, offset))
  const original = index === undefined ? undefined : messages[index]
  if (index === undefined || original?.role !== 'assistant' || original.thinking === undefined) return undefined
  const thought = original.thinking.trim()
  // The end of the think block follows the thought; without it, a short thought may be found in other words.
  const own = textOfMessage(comparison.rendered.rendering, index, offset)
  const isThere = new RegExp(`${escapePattern(thought)}\\s*${escapePattern(tags?.close ?? '')}`).test(own)
  if (thought === '' || isThere) return undefined
  if (!isReply)
    return cause('thinking-stripped', 'The template drops the thinking of an earlier reply, which it wrote in turn n.')
  return cause(
    'thinking-stripped',
    replyIndex === messages.length - 1
      ? 'The template does not print the thinking of the reply.'
      : 'The template drops the thinking of the reply once something follows it.',
  )
}

/** Returns the message whose thinking turn n has at the difference, for text whose piece has no message. */
function thoughtAt({ comparison, messages, tags }: DifferenceCase, offset: number): number | undefined {
  const { text } = comparison.expected
  const start = text.startsWith(tags?.open ?? '', offset) ? offset + (tags?.open.length ?? 0) : offset
  const own = text.slice(start).trimStart()
  const index = messages.findIndex(
    ({ thinking }) => thinking !== undefined && thinking !== '' && own.startsWith(thinking),
  )
  return index < 0 ? undefined : index
}

/** Returns the rendered text of a message; if no piece belongs to it, all text from the offset on. */
function textOfMessage({ text, pieces }: Rendering, message: number, offset: number): string {
  const own = pieces.filter((piece) => piece.message === message)
  return own.length === 0 ? text.slice(offset) : own.map(({ start, end }) => text.slice(start, end)).join('')
}

/** Returns the cause for new messages that are missing, are in another order, or change text far before them. */
function changedMessages(
  { comparison, messages, replyIndex }: DifferenceCase,
  { region, message, offset }: FirstDifference,
): DifferenceCause | undefined {
  const { text, rendering } = comparison.rendered
  if (region === 'history') {
    const system = messages.slice(replyIndex + 1).find(({ role }) => role === 'system' || role === 'developer')
    const reply = rendering.pieces.find((piece) => piece.message === replyIndex)?.start ?? 0
    const at = system ? text.indexOf(system.content) : -1
    if (at >= 0 && at < reply)
      return cause('system-changed', 'The template moves a later system message to the start of the conversation.')
    const opening = text.indexOf(messages.find(({ role }) => role === 'user')?.content ?? '')
    if (message === undefined ? offset < opening : messages[message]?.role === 'system')
      return cause(
        'system-changed',
        'The template writes the start of the conversation (system message, tools) differently than in turn n.',
      )
  }
  return region === 'added' ? findMissingMessages({ comparison, messages, replyIndex })?.cause : undefined
}

/**
 * Returns the cause for new messages that are missing or in another order. This is wrong even if the recipe writes them in the same way.
 */
export function findMissingMessages({
  comparison,
  messages,
  replyIndex,
}: Pick<DifferenceCase, 'comparison' | 'messages' | 'replyIndex'>):
  | {
      readonly cause: DifferenceCause
      /** The text that turn n+1 should have, roughly: with the message after the reply, or with the two swapped. */
      readonly wanted: string
    }
  | undefined {
  const { text } = comparison.rendered
  const behind = replyEndIn(comparison, replyIndex)
  const added = messages.slice(replyIndex + 1).map(({ role, content }) => ({ role, content: content.trim() }))
  const missing = added.find(({ content }) => !text.includes(content, behind))
  if (missing)
    return {
      cause: cause('message-dropped', `The template does not print the new ${missing.role} message.`),
      wanted: text.slice(0, behind) + missing.content + text.slice(behind),
    }
  const places = added.map(({ content }) => text.indexOf(content, behind))
  const late = places.findIndex((at, index) => index > 0 && at < elementAt(places, index - 1))
  if (late < 0) return undefined
  const [from, to] = [elementAt(places, late), elementAt(places, late - 1)]
  const [one, other] = [added[late]?.content ?? '', added[late - 1]?.content ?? '']
  return {
    cause: cause('results-reordered', 'The template writes the results in a different order than they were given.'),
    wanted: text.slice(0, from) + other + text.slice(from + one.length, to) + one + text.slice(to + other.length),
  }
}

/**
 * Returns where the reply ends in turn n+1. A template may write results together with the message of their call (Gemma 4), so that the
 * text that the model wrote is searched first; if the template writes it differently, the pieces of the reply decide.
 */
function replyEndIn({ expected, rendered }: RenderComparison, replyIndex: number): number {
  const end = expected.regions().find(({ kind }) => kind === 'end')?.end ?? 0
  return commonText(expected.text, rendered.text) >= end ? end : lastOffsetOf(rendered.rendering, replyIndex)
}

/** Returns where the last piece of a message ends; 0 if no piece belongs to it. */
export function lastOffsetOf({ pieces }: Rendering, message: number): number {
  return pieces.reduce((last, piece) => (piece.message === message ? piece.end : last), 0)
}

function endOfTurn(
  { comparison, messages, addedTokens, endOfTurn: end }: DifferenceCase,
  { region, offset, tokenOffset }: FirstDifference,
): DifferenceCause | undefined {
  const { expected, rendered } = comparison
  const tokenAt = (text: string) => addedTokens.find(({ content }) => text.startsWith(content, tokenOffset))?.content
  const [ours, theirs] = [tokenAt(expected.text), tokenAt(rendered.text)]
  const previous = addedTokens.find(({ content }) => expected.text.slice(0, tokenOffset).endsWith(content))?.content
  if (region === 'added' && theirs !== undefined && theirs === previous && theirs !== ours)
    return cause('end-of-turn', `The template ends the turn twice with ${theirs}.`)
  const closed = pieceAt(rendered.rendering, tokenOffset - 1)?.message
  const isEarlier = region === 'history' && closed !== undefined && messages[closed]?.role === 'assistant'
  if (region !== 'end' && !(isEarlier && ours === end && theirs !== undefined)) return undefined
  if (ours === undefined) return undefined
  if (theirs !== undefined && theirs !== ours)
    return cause(
      'end-of-turn',
      `The model ends its turn with ${ours}, and the template writes ${theirs} there once something follows.`,
    )
  return whitespaceRun(expected.text, rendered.text, offset) === undefined
    ? cause('end-of-turn', `The template leaves out the ${ours} with which the model ended its turn.`)
    : undefined
}

/** Returns the whitespace of both sides if they differ only by whitespace; undefined if they differ by more. */
function whitespaceRun(
  a: string,
  b: string,
  offset: number,
): { readonly ours: string; readonly theirs: string } | undefined {
  let from = offset
  while (from > 0 && /\s/.test(a.charAt(from - 1))) from--
  const [ours, theirs] = [a, b].map((text) => /^\s*/.exec(text.slice(from))?.[0] ?? '') as [string, string]
  const [restA, restB] = [a.slice(from + ours.length), b.slice(from + theirs.length)]
  const length = Math.min(COMPARED, restA.length, restB.length)
  const isSame = restA.slice(0, length) === restB.slice(0, length) && (length > 0 || restA === restB)
  return ours !== theirs && isSame ? { ours, theirs } : undefined
}

/** Number of characters after a run of whitespace that must agree. */
const COMPARED = 12

function whitespace(a: string, b: string, { offset, region }: FirstDifference): DifferenceCause | undefined {
  const run = whitespaceRun(a, b, offset)
  if (!run) return undefined
  if (region === 'calls' && !/\n/.test(run.ours + run.theirs)) return undefined
  const what = /^\n*$/.test(run.ours + run.theirs) ? 'newline' : 'whitespace'
  const [from, to] = [run.ours, run.theirs].map((text) => JSON.stringify(text))
  return run.theirs.length < run.ours.length
    ? cause('whitespace', `The template drops ${what}: ${from} became ${to}.`)
    : cause('whitespace', `The template adds ${what}: ${from} became ${to}.`)
}

function byRegion(
  { comparison, messages, replyIndex }: DifferenceCase,
  { region: found, message, offset }: FirstDifference,
): DifferenceCause {
  const { rendering, text } = comparison.rendered
  // Command R7B writes a generation prompt even if none is requested, so that it counts as history.
  const region = found === 'history' && message !== undefined && message >= replyIndex ? 'prompt' : found
  const reply = messages[replyIndex]
  const own = textOfMessage(rendering, replyIndex, offset)
  switch (region) {
    case 'history':
      return cause(
        'history-rewritten',
        message === undefined
          ? 'The template writes the text before the reply differently than in turn n.'
          : `The template writes message ${message + 1} (${messages[message]?.role}) differently than in turn n.`,
      )
    case 'prompt':
      return cause(
        'generation-prompt',
        'The generation prompt differs from the text that the template writes before a reply in the history.',
      )
    case 'thinking':
      return cause('content-rewritten', 'The template writes the thinking differently than the model did.')
    case 'content':
      if (isAfter(messages[replyIndex + 1]?.content, reply?.content, text.slice(offset)))
        return cause(
          'content-rewritten',
          'The template writes the content of the reply after the results of its calls.',
        )
      return own.includes(reply?.content.trim() ?? '')
        ? cause('content-rewritten', 'The template writes the content differently than the model did.')
        : cause(
            'content-dropped',
            reply?.callNames.length
              ? 'The template does not print the content of a reply with calls.'
              : 'The template does not print all of the content of the reply.',
          )
    case 'calls':
      return reply?.callNames.every((name) => own.includes(name))
        ? cause(
            'call-reserialised',
            'The template writes the tool call differently than the model did: spacing, order of keys, escapes or numbers.',
          )
        : cause('call-dropped', 'The template does not print the tool calls of the reply.')
    case 'end':
    case 'added':
      return cause(
        'new-messages-rewritten',
        'After this history the template writes the new messages differently than after a single question.',
      )
  }
}

/** Whether `second` occurs in the text, after `first`. */
function isAfter(first: string | undefined, second: string | undefined, text: string): boolean {
  const at = first?.trim() ? text.indexOf(first.trim()) : -1
  const place = second?.trim() ? text.indexOf(second.trim()) : -1
  return at >= 0 && place > at
}

/** Returns the sentence that says what usually removes the cause. */
export function remedyFor({ kind }: DifferenceCause): string {
  return REMEDIES[kind]
}

const REMEDIES: Readonly<Record<CauseKind, string>> = {
  'thinking-stripped': 'Print the thinking of every reply, not only after the last question.',
  'empty-think-inserted': 'Print a think block only where the message has thinking.',
  'empty-think-dropped': 'Print the empty think block of every reply without thinking, not only of the last reply.',
  'generation-prompt':
    'Write the same text before a reply in the history as the generation prompt writes before a new reply.',
  whitespace:
    'Remove the trim, strip or whitespace control that changes it, or write the same whitespace in both places.',
  'end-of-turn': 'End every assistant turn with the one token that the model is trained to stop at.',
  'call-reserialised': 'Keep the sampled ids: a call that is parsed and printed again has a different text.',
  'call-dropped': 'Print message.tool_calls, or keep the call’s text in the content.',
  'content-dropped': 'Print the content of every reply, whole, before its calls.',
  'content-rewritten': 'Print the content unchanged.',
  'results-reordered': 'Print the results in the order of the messages.',
  'message-dropped': 'Print messages of this role at their position, or raise an exception.',
  'system-changed': 'Write the start of the conversation only from its first messages.',
  'history-rewritten': 'Write a message only from its own content, not depending on later messages.',
  'new-messages-rewritten': 'Write a message only from its own content, not depending on earlier messages.',
  merge: 'Keep the sampled ids instead of encoding the text again.',
  time: 'Print no time of day, or print one that is given as a variable and stays the same.',
}
