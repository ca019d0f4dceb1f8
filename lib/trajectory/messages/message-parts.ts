/**
 * The tokens of each message and of its parts. A response is one message, divided by its parsed spans. The messages of
 * a prompt are searched for in its text, because a template may render them anywhere. Spans count from the start of the
 * segment.
 */

import { elementAt } from '#lib/util/element-at.ts'
import type { ContentPart, Message, Span, ToolCall } from '../format/trajectory.ts'
import { imagePartsIn, imageSpansOf } from '../images/image-boxes.ts'
import { findTexts, type WantedText, type WaysOfWriting } from '../tokens/find-texts.ts'
import { textOf, textWithStarts } from '../tokens/pieces.ts'
import { idsBetween, isSpecial, segmentsOf } from '../tokens/tokens.ts'
import type { PromptView, ResponseView, SegmentView, TrajectoryView } from '../tokens/trajectory-view.ts'
import { messageOfResponse } from './conversation.ts'
import { callsById } from './tool-calls.ts'

/** A message of a segment with its tokens. */
export interface SegmentMessage {
  /** 'given' means text or ids without a message. */
  readonly role: Message['role'] | 'given'
  /** The message of a prompt; undefined for a response and for given text or ids. */
  readonly message: Message | undefined
  /** The tokens including the template's text around it; undefined if its text does not occur unchanged. */
  readonly tokens: Span | undefined
  /** The parts in order; spans that are present are disjoint. */
  readonly parts: readonly MessagePart[]
}

/** A part of a message with its tokens. */
export type MessagePart =
  /** If `text` is undefined, it is the text of the tokens, see partText. */
  | { readonly kind: 'text' | 'thinking'; readonly tokens: Span | undefined; readonly text: string | undefined }
  /** As the parser found it in a response. */
  | { readonly kind: 'call'; readonly tokens: Span | undefined; readonly call: ToolCall }
  /** Given in structured form with a message of a prompt, or with the message that a file has for a response. */
  | { readonly kind: 'given-call'; readonly tokens: Span | undefined; readonly name: string; readonly input: unknown }
  /** An image; its tokens are those of its positions. */
  | { readonly kind: 'image'; readonly tokens: Span | undefined; readonly content: ContentPart }
  /** Content of another kind, which is not understood. */
  | { readonly kind: 'other'; readonly tokens: undefined; readonly type: string }

/** Returns the messages of a segment, computed once for each closed segment. */
export function segmentMessages(trajectory: TrajectoryView, segmentIndex: number): readonly SegmentMessage[] {
  const segment = segmentsOf(trajectory)[segmentIndex]
  if (!segment) return []
  const found =
    known.get(segment) ??
    (segment.kind === 'response' ? [replyOf(segment, trajectory)] : promptMessages(segment, trajectory))
  known.set(segment, found)
  return found
}

const known = new WeakMap<SegmentView, readonly SegmentMessage[]>()

/** Returns the text of a part, without delimiters and surrounding blank lines. */
export function partText(part: MessagePart, segment: SegmentView, trajectory: TrajectoryView): string {
  switch (part.kind) {
    case 'text':
    case 'thinking': {
      if (part.text !== undefined) return part.text
      const tokens = withoutSpecial(part.tokens ?? { start: 0, end: 0 }, segment, trajectory)
      return textOf(idsBetween(segment.ids, tokens), trajectory.vocab).trim()
    }
    case 'call':
      return part.call.raw
    case 'given-call':
      return JSON.stringify({ name: part.name, arguments: part.input })
    case 'image':
      return part.content.reference ?? ''
    case 'other':
      return ''
  }
}

/**
 * Returns think blocks and calls, and the prose between them. If no parser here has read the response, these are of the message that
 * the server or the file gave.
 */
function replyOf(segment: ResponseView, trajectory: TrajectoryView): SegmentMessage {
  const ownMessage = messageOfResponse(segment, trajectory)
  if (ownMessage) {
    const drafts = draftsOf(ownMessage, trajectory).filter(({ part }) => !isEmptyText(part))
    const written = textWithStarts(segment.ids, trajectory.vocab)
    return {
      role: 'assistant',
      message: undefined,
      tokens: segment.ids.length > 0 ? { start: 0, end: segment.ids.length } : undefined,
      // A short text of the message may occur in the placeholders of tokens without known texts.
      parts: locatedParts(
        drafts,
        (written.isKnown ? spansIn({ ...written, specials: [] }, drafts) : []).values(),
        [].values(),
      ),
    }
  }
  const marked = [
    ...segment.thinks.map(({ start, end }) => ({ span: { start, end }, call: undefined })),
    ...segment.toolCalls.map((call) => ({ span: call.span, call })),
  ].sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end)
  const parts: MessagePart[] = []
  let next = 0
  const addProse = (end: number) => {
    const tokens = withoutSpecial({ start: next, end }, segment, trajectory)
    if (hasText(tokens, segment, trajectory)) parts.push({ kind: 'text', tokens, text: undefined })
  }
  for (const { span, call } of marked) {
    addProse(span.start)
    // Nested calls: the tokens belong to the outer one.
    const own = { start: Math.max(next, span.start), end: span.end }
    const tokens = own.start < own.end ? own : undefined
    parts.push(call ? { kind: 'call', tokens, call } : { kind: 'thinking', tokens, text: undefined })
    next = Math.max(next, span.end)
  }
  addProse(segment.ids.length)
  return { role: 'assistant', message: undefined, tokens: { start: 0, end: segment.ids.length }, parts }
}

const isEmptyText = (part: MessagePart): boolean => part.kind === 'text' && part.text?.trim() === ''

function withoutSpecial({ start, end }: Span, { ids }: SegmentView, trajectory: TrajectoryView): Span {
  let first = start
  let last = end
  while (first < last && isSpecial(trajectory, elementAt(ids, first))) first++
  while (first < last && isSpecial(trajectory, elementAt(ids, last - 1))) last--
  return { start: first, end: last }
}

/** Returns whether there is more than white space and markup. */
function hasText({ start, end }: Span, { ids }: SegmentView, trajectory: TrajectoryView): boolean {
  for (let index = start; index < end; index++) {
    const id = elementAt(ids, index)
    if (!isSpecial(trajectory, id) && !isBlank(id, trajectory)) return true
  }
  return false
}

function isBlank(id: number, { vocab }: TrajectoryView): boolean {
  const entry = vocab[id]
  return typeof entry === 'string' && entry.trim() === ''
}

function promptMessages(segment: PromptView, trajectory: TrajectoryView): readonly SegmentMessage[] {
  const whole = { start: 0, end: segment.ids.length }
  if (segment.messages.length === 0)
    return [
      { role: 'given', message: undefined, tokens: whole, parts: [{ kind: 'text', tokens: whole, text: undefined }] },
    ]
  const drafts = segment.messages.map((message) => ({ message, parts: draftsOf(message, trajectory) }))
  const specials = specialsOf(segment, trajectory)
  const spans = spansIn(
    { ...textWithStarts(segment.ids, trajectory.vocab), specials },
    drafts.flatMap(({ parts }) => parts),
  ).values()
  const images = imageSpansOf(segment, trajectory)
  const image = (images.length === imagePartsIn(segment).length ? images : []).values()
  const messages = drafts.map(({ message, parts }) => ({ message, parts: locatedParts(parts, spans, image) }))
  const bodies = messages.map(({ parts }) => bodyOf(parts))
  return messages.map(({ message, parts }, index) => ({
    role: message.role,
    message,
    tokens: extentOf(bodies, index, { segment, trajectory, specials }),
    parts,
  }))
}

/** Searches the parts that have a text of their own, in order. */
const spansIn = (written: WaysOfWriting, drafts: readonly Draft[]): readonly (Span | undefined)[] =>
  findTexts(
    drafts.flatMap(({ wanted }) => (wanted ? [wanted] : [])),
    written,
  )

/** Adds the tokens to the parts. The spans are those of parts with a text of their own, and those of images. */
function locatedParts(
  drafts: readonly Draft[],
  spans: Iterator<Span | undefined>,
  images: Iterator<Span>,
): readonly MessagePart[] {
  return drafts.map(({ wanted, part }): MessagePart => {
    if (part.kind === 'other') return part
    const { done, value } = wanted ? spans.next() : images.next()
    return { ...part, tokens: done ? undefined : value }
  })
}

interface Draft {
  readonly part: MessagePart
  /** Undefined if it has no text of its own. */
  readonly wanted: WantedText | undefined
}

function draftsOf(message: Message, { segments }: TrajectoryView): readonly Draft[] {
  const content =
    message.role === 'tool'
      ? (message.content ?? callsById(segments).get(message.callId ?? '')?.call.result?.text ?? '')
      : message.content
  const texts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const thinking = message.role === 'assistant' && message.reasoning !== undefined ? [message.reasoning] : []
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return [
    ...thinking.map((text): Draft => textDraft('thinking', text)),
    ...texts.map(contentDraft),
    ...calls.map(
      ({ name, input }): Draft => ({
        part: { kind: 'given-call', tokens: undefined, name, input },
        wanted: [JSON.stringify(input) ?? '', spacedJson(input)],
      }),
    ),
  ]
}

function contentDraft(content: ContentPart): Draft {
  const { type, text } = content
  if (type === 'text' && text !== undefined) return textDraft('text', text)
  const tokens = undefined
  return {
    part: type === 'image' ? { kind: 'image', tokens, content } : { kind: 'other', tokens, type },
    wanted: undefined,
  }
}

/** Templates may strip the white space around a text, or write it as JSON. */
const textDraft = (kind: 'text' | 'thinking', text: string): Draft => ({
  part: { kind, tokens: undefined, text },
  wanted: [text, text.trim(), JSON.stringify(text).slice(1, -1)],
})

/** Writes JSON with Python's spacing. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${spacedJson(item)}`)
    .join(', ')}}`
}

function specialsOf({ ids }: SegmentView, trajectory: TrajectoryView): readonly number[] {
  const found: number[] = []
  for (let index = 0; index < ids.length; index++) if (isSpecial(trajectory, elementAt(ids, index))) found.push(index)
  return found
}

/** Returns the span from the first to the last token of the parts. */
function bodyOf(parts: readonly MessagePart[]): Span | undefined {
  const spans = parts.flatMap(({ tokens }) => (tokens ? [tokens] : []))
  const [first] = spans
  const last = spans.at(-1)
  return first && last && { start: first.start, end: last.end }
}

interface Around {
  readonly segment: SegmentView
  readonly trajectory: TrajectoryView
  /** Indices of the special tokens. */
  readonly specials: readonly number[]
}

/** Next to a message that was not found only the certain tokens are assigned: the message's own text and its end. */
function extentOf(bodies: readonly (Span | undefined)[], index: number, around: Around): Span | undefined {
  const body = bodies[index]
  if (!body) return undefined
  const before = index === 0 ? { start: 0, end: 0 } : bodies[index - 1]
  const start = index === 0 ? 0 : before ? endOf(before, body.start, around) : body.start
  const { length } = around.segment.ids
  if (index === bodies.length - 1) return { start, end: length }
  const next = bodies.find((other, place) => place > index && other)
  return { start, end: endOf(body, next?.start ?? length, around) }
}

/** A message ends after its end-of-turn token, or after the first special token, and the blank tokens that follow. */
function endOf(body: Span, limit: number, { segment, trajectory, specials }: Around): number {
  const behind = specials.filter((token) => token >= body.end && token < limit)
  const endOfTurn = behind.find((token) => segment.ids[token] === trajectory.model.tokenizer?.endOfTurnId)
  const last = endOfTurn ?? behind[0]
  if (last === undefined) return body.end
  let end = last + 1
  while (end < limit && isBlank(elementAt(segment.ids, end), trajectory)) end++
  return end
}
