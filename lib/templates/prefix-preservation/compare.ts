/** Compares both sides of one boundary: turn n with its reply and the new messages, and turn n+1 as the template renders it. */

import { continuationOf } from '#lib/rollout/prompt/continuation.ts'
import { endOfReply } from '#lib/rollout/prompt/prompt.ts'
import { encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import type { Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { type InputError, templateFailure } from '../document/input.ts'
import type { ReplyBoundary } from './boundary.ts'
import { type ScriptCall, type ScriptReply, templateMessages } from './fix/script.ts'
import { type TrainingTemplate, trainedForm, type WrittenReplyText } from './fix/writing.ts'
import { later, type RenderResult, renderTurn, type Subject } from './subject.ts'

/** The content of a range of turn n's text. */
export type Region = 'history' | 'prompt' | 'thinking' | 'content' | 'calls' | 'end' | 'added'

/** One side of a comparison: its text and its token ids. */
export interface RenderedSide {
  readonly text: string
  readonly ids: readonly number[]
  /** Returns the offset in the text at which each token starts, and finally the length of the text; computed at each call. */
  readonly starts: () => readonly number[]
}

/** Turn n with its reply and the new messages (`expected`), compared with turn n+1 (`rendered`). */
export interface RenderComparison {
  readonly expected: RenderedSide & {
    /** Returns the regions in the order of the text; computed at each call, with a render of its own. */
    readonly regions: () => readonly { readonly kind: Region; readonly end: number }[]
  }
  readonly rendered: RenderedSide & { readonly rendering: Rendering }
  /** Render of turn n, for the lines that wrote it; undefined if its ids are recorded. */
  readonly before: Rendering | undefined
  /** Index of the first token that differs; undefined if the two sides agree. */
  readonly tokenIndex: number | undefined
  /** Whether the texts differ too. Otherwise only tokens differ, because they merge across a boundary. */
  readonly textDiffers: boolean
  /** Whether the first difference is a time that the template prints. Omitted: it is not. */
  readonly isTime?: boolean
}

/** A comparison of a scripted turn. */
export interface ScriptComparison extends RenderComparison {
  /** The recipe's text from the last token of the reply on, and the part of it after the reply; or the error if there is none. */
  readonly appended:
    | { readonly ok: true; readonly text: string; readonly behind: string }
    | { readonly ok: false; readonly error: InputError }
}

/** The comparison of a turn, or the reason why there is none. */
export type TurnComparison =
  | { readonly kind: 'compared'; readonly comparison: ScriptComparison }
  | { readonly kind: 'refused'; readonly error: InputError }
  | { readonly kind: 'failed'; readonly error: InputError }
  /** No render shows what the model writes here, so that there is nothing to compare. */
  | { readonly kind: 'unknown-reply' }

/**
 * Compares the two sides of a turn. `trained` is the template whose replies the model writes, `writing` the reply as the model writes it.
 */
export function compareTurn(
  turn: ReplyBoundary,
  subject: Subject,
  trained: TrainingTemplate,
  writing: WrittenReplyText,
): TurnComparison {
  const form = trainedForm(trained)
  const history = templateMessages(turn.history, form)
  const added = templateMessages(turn.added, form)
  const isEnd = added.length === 0
  const before = renderTurn(subject, history, true)
  if (!before.ok) return { kind: before.refused ? 'refused' : 'failed', error: before.error }
  const whole = [...history, ...templateMessages([turn.reply], form), ...added]
  const after = renderTurn(later(subject), whole, !isEnd)
  if (!after.ok) return { kind: after.refused ? 'refused' : 'failed', error: after.error }
  const { text } = after.rendering
  const prompt = before.rendering.text
  const reply = writing.parts.map((part) => part.text).join('') + writing.end
  if (writing.source === 'composed' && !isCertain(turn.reply, prompt, reply, text)) return { kind: 'unknown-reply' }
  const appended = appendedFor(subject, isEnd ? [] : turn.reply.calls, reply, added)
  const behind = appended.ok ? appended.behind : undefined
  const expected = renderParts(subject.tokenizer, [prompt, reply, behind ?? ''])
  const regions = () => {
    const plain = renderTurn(subject, history, false)
    const header = plain.ok && prompt.startsWith(plain.rendering.text) ? plain.rendering.text.length : prompt.length
    return regionsOf([
      { kind: 'history', text: prompt.slice(0, header) },
      { kind: 'prompt', text: prompt.slice(header) },
      ...writing.parts,
      { kind: 'end', text: writing.end },
      { kind: 'added', text: behind ?? '' },
    ])
  }
  const ids = subject.tokenizer.encode(text)
  // If the recipe cannot append anything, the text that was read and written must be a beginning of turn n+1.
  const length = behind === undefined ? expected.ids.length : Math.max(expected.ids.length, ids.length)
  let at = 0
  while (at < length && expected.ids[at] === ids[at]) at++
  return {
    kind: 'compared',
    comparison: {
      expected: { ...expected, regions },
      rendered: { ...renderParts(subject.tokenizer, [text]), rendering: after.rendering },
      before: before.rendering,
      tokenIndex: at < length ? at : undefined,
      isTime:
        at < length &&
        subject.template.text.includes('strftime_now') &&
        isTimeAt(commonText(expected.text, text), text, renderTurn(subject, whole, !isEnd)),
      textDiffers: behind === undefined ? !text.startsWith(expected.text) : text !== expected.text,
      appended,
    },
  }
}

/** Returns whether the text that is rendered at the time of turn n first differs at an offset. */
const isTimeAt = (offset: number, text: string, earlier: RenderResult): boolean =>
  earlier.ok && earlier.rendering.text !== text && commonText(earlier.rendering.text, text) === offset

/**
 * Whether a verdict on a reply that is composed of parts holds whatever the model writes: turn n+1 contains the reply, its prompt differs,
 * or a part of the reply is printed nowhere.
 */
function isCertain(
  { thinking = '', content, calls }: ScriptReply,
  prompt: string,
  reply: string,
  text: string,
): boolean {
  if (text.startsWith(prompt + reply) || !text.startsWith(prompt)) return true
  const behind = text.slice(prompt.length)
  const isThere = (part: string): boolean => behind.includes(part.trim())
  return !isThere(thinking) || !isThere(content) || !calls.every(({ name, id }) => isThere(name) || isThere(id))
}

/** Vocabulary entries by id: the same tokens occur in every reply, and a search has hundreds of replies. */
const entries = memoizeByIdentity((_: Tokenizer) => new Map<number, VocabEntry>())

/**
 * Returns the text that Rollscope appends after a reply (lib/rollout/prompt/prompt.ts); at the end of a conversation, the text that the
 * template writes there.
 */
function appendedFor(
  { template, tools, options, tokenizer }: Subject,
  calls: readonly ScriptCall[],
  reply: string,
  added: readonly TemplateMessage[],
): ScriptComparison['appended'] {
  const toolCalls = calls.map(({ id, name, arguments: json }) => ({ id, name, input: readJson(json), json }))
  const ids = tokenizer.encode(reply)
  const known = entries(tokenizer)
  const vocab: Record<number, VocabEntry> = {}
  for (const id of ids) {
    const entry = known.get(id) ?? vocabEntry(tokenizer.bytes(id))
    known.set(id, entry)
    vocab[id] = entry
  }
  const end = endOfReply(ids, vocab, toolCalls, tokenizer)
  try {
    const { text } = continuationOf(template, end, added, { tools, options })
    const last = end.lastToken ?? ''
    return { ok: true, text, behind: text.startsWith(last) ? text.slice(last.length) : text }
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, error: templateFailure(error) }
    throw error
  }
}

/** Returns the end of each region in the joined text, in UTF-16 units. */
export function regionsOf(
  parts: readonly { readonly kind: Region; readonly text: string }[],
): ReturnType<RenderComparison['expected']['regions']> {
  let end = 0
  return parts.map(({ kind, text }) => {
    end += text.length
    return { kind, end }
  })
}

/** Returns a side whose texts are encoded one by one, because they arrive one by one. */
export const renderParts = (tokenizer: Tokenizer, parts: readonly string[]): RenderedSide => ({
  text: parts.join(''),
  ids: parts.flatMap((part) => tokenizer.encode(part)),
  starts: () => {
    let offset = 0
    const starts = parts.flatMap((part) => {
      const from = offset
      offset += part.length
      return encodeWithOffsets(tokenizer, part)
        .starts.slice(0, -1)
        .map((start) => from + start)
    })
    return [...starts, offset]
  },
})
