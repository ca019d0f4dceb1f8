/** Both sides of one boundary: turn n with its reply and the new messages, and turn n+1 as the template renders it. */

import { continuationOf } from '#lib/rollout/prompt/continuation.ts'
import { endOfReply } from '#lib/rollout/prompt/prompt.ts'
import { encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import type { Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { type InputError, templateFailure } from '../document/input.ts'
import type { Turn } from './boundary.ts'
import { type ScriptCall, type ScriptReply, templateMessages } from './fix/script.ts'
import { type Trained, trainedForm, type Writing } from './fix/writing.ts'
import { rendered, type Subject } from './subject.ts'

/** What stands in a stretch of turn n's text. */
export type Region = 'history' | 'prompt' | 'thinking' | 'content' | 'calls' | 'end' | 'added'

export interface RenderedSide {
  readonly text: string
  readonly ids: readonly number[]
  /** Offset in the text at which each token starts, and the length of the text last; worked out when asked for. */
  readonly starts: () => readonly number[]
}

export interface RenderComparison {
  readonly expected: RenderedSide & {
    /** In the order of the text; worked out when asked for, with a render of its own. */
    readonly regions: () => readonly { readonly kind: Region; readonly end: number }[]
  }
  readonly rendered: RenderedSide & { readonly rendering: Rendering }
  /** Turn n, for the lines that wrote it; undefined where its ids are recorded. */
  readonly before: Rendering | undefined
  /** Undefined: the two agree. */
  readonly tokenIndex: number | undefined
  /** Whether the texts differ too; otherwise tokens alone do, which merge across a boundary. */
  readonly textDiffers: boolean
}

export interface ScriptComparison extends RenderComparison {
  /** The recipe's text from the last token of the reply on, and the part of it behind the reply; or why there is none. */
  readonly appended:
    | { readonly ok: true; readonly text: string; readonly behind: string }
    | { readonly ok: false; readonly error: InputError }
}

export type Compared =
  | { readonly kind: 'compared'; readonly comparison: ScriptComparison }
  | { readonly kind: 'refused'; readonly error: InputError }
  | { readonly kind: 'failed'; readonly error: InputError }
  /** Nothing shows what the model writes here, so there is nothing to compare. */
  | { readonly kind: 'unlearnt' }

/** `writing`: the reply as the model writes it. */
export function compare(turn: Turn, subject: Subject, trained: Trained, writing: Writing): Compared {
  const form = trainedForm(trained)
  const history = templateMessages(turn.history, form)
  const added = templateMessages(turn.added, form)
  const isEnd = added.length === 0
  const before = rendered(subject, history, true)
  if (!before.ok) return { kind: before.refused ? 'refused' : 'failed', error: before.error }
  const after = rendered(subject, [...history, ...templateMessages([turn.reply], form), ...added], !isEnd)
  if (!after.ok) return { kind: after.refused ? 'refused' : 'failed', error: after.error }
  const { text } = after.rendering
  const prompt = before.rendering.text
  const reply = writing.parts.map((part) => part.text).join('') + writing.end
  if (writing.source === 'composed' && !isCertain(turn.reply, prompt, reply, text)) return { kind: 'unlearnt' }
  const appended = appendedFor(subject, isEnd ? [] : turn.reply.calls, reply, added)
  const behind = appended.ok ? appended.behind : undefined
  const expected = joined(subject.tokenizer, [prompt, reply, behind ?? ''])
  const regions = () => {
    const plain = rendered(subject, history, false)
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
  // Where the recipe cannot say what follows, what was read and written must be a beginning of turn n+1.
  const length = behind === undefined ? expected.ids.length : Math.max(expected.ids.length, ids.length)
  let at = 0
  while (at < length && expected.ids[at] === ids[at]) at++
  return {
    kind: 'compared',
    comparison: {
      expected: { ...expected, regions },
      rendered: { ...joined(subject.tokenizer, [text]), rendering: after.rendering },
      before: before.rendering,
      tokenIndex: at < length ? at : undefined,
      textDiffers: behind === undefined ? !text.startsWith(expected.text) : text !== expected.text,
      appended,
    },
  }
}

/**
 * Whether a verdict on a reply that was put together of pieces holds whatever the model writes: the reply is there again, the
 * prompt before it is not, or a part of the reply is printed nowhere.
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

/** By id: the same tokens come in every reply, and a search has hundreds. */
const entries = memoizeByIdentity((_: Tokenizer) => new Map<number, VocabEntry>())

/** What Rollscope appends behind a reply: lib/rollout/prompt/prompt.ts; at the end of a conversation what the template writes there. */
function appendedFor(
  { template, options, tokenizer }: Subject,
  calls: readonly ScriptCall[],
  reply: string,
  added: readonly TemplateMessage[],
): ScriptComparison['appended'] {
  const given = calls.map(({ id, name, arguments: json }) => ({ id, name, input: readJson(json), json }))
  const ids = tokenizer.encode(reply)
  const known = entries(tokenizer)
  const vocab: Record<number, VocabEntry> = {}
  for (const id of ids) {
    const entry = known.get(id) ?? vocabEntry(tokenizer.bytes(id))
    known.set(id, entry)
    vocab[id] = entry
  }
  const end = endOfReply(ids, vocab, given, tokenizer)
  try {
    const { text } = continuationOf(template, end, added, options)
    const last = end.lastToken ?? ''
    return { ok: true, text, behind: text.startsWith(last) ? text.slice(last.length) : text }
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, error: templateFailure(error) }
    throw error
  }
}

export function regionsOf(
  stretches: readonly { readonly kind: Region; readonly text: string }[],
): ReturnType<RenderComparison['expected']['regions']> {
  let end = 0
  return stretches.map(({ kind, text }) => {
    end += text.length
    return { kind, end }
  })
}

/** Texts that are encoded one by one, as they come in one by one. */
export const joined = (tokenizer: Tokenizer, parts: readonly string[]): RenderedSide => ({
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
