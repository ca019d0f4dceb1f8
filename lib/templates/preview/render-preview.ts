/**
 * A rendered conversation with its tokens, which the preview shows. It consists of columns, so that it is sent to another thread fast. The
 * functions here answer the questions of the page.
 */

import type { Span, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { int32At, uint32At } from '#lib/util/element-at.ts'

/** A rendered conversation in columns; `ids`, `starts` and `ends` have one entry for each token. */
export interface RenderPreview {
  readonly text: string
  readonly ids: Uint32Array
  /** UTF-16 offset of the first character of which each token contains a byte. */
  readonly starts: Uint32Array
  /** UTF-16 offset after the last character of which each token contains a byte. */
  readonly ends: Uint32Array
  readonly origins: Origins
  readonly mask: PreviewMask
  /** Vocabulary entries of these ids. */
  readonly vocab: Vocab
  /** Ids of these that are added tokens. */
  readonly specialIds: readonly number[]
  /** Role of each message, as written. */
  readonly roles: readonly string[]
}

/** The source map: one entry for each piece of the text, in order and without gaps. */
export interface Origins {
  /** UTF-16 offset at which each piece starts, and finally the length of the text. */
  readonly starts: Uint32Array
  /** Line of the template, from 1. */
  readonly lines: Uint32Array
  /** Index of the message; NO_MESSAGE outside of all. */
  readonly messages: Int32Array
  /** 1 = a value of the conversation, 0 = the template's own letters. */
  readonly values: Uint8Array
}

/** Message index of text outside of all messages. */
export const NO_MESSAGE = -1

/** Which tokens are trained, as far as the template shows it. */
export type PreviewMask =
  /**
   * `trained` has one entry for each token; 1 means trained. `by` is the source: `{% generation %}` blocks, or what each reply adds to the
   * render before it. `broken` counts the messages at which these renders do not continue each other, so that a wrong token may be the first or
   * the last trained one; omitted: none.
   */
  | {
      readonly kind: 'known'
      readonly by: 'generation' | 'prefix'
      readonly trained: Uint8Array
      readonly broken?: number
    }
  | { readonly kind: 'unknown'; readonly why: string }

/** The origin of a piece of text in the template. */
export interface PieceOrigin {
  readonly line: number
  /** Index of the message; undefined outside of all messages. */
  readonly message: number | undefined
  readonly source: 'template' | 'value'
}

/** Returns the origin of a token's first character; undefined in an empty text. */
export function originOf({ starts, origins }: RenderPreview, tokenIndex: number): PieceOrigin | undefined {
  const piece = lastAtMost(origins.starts, starts[tokenIndex] ?? 0)
  if (piece < 0 || piece >= origins.lines.length) return undefined
  const message = int32At(origins.messages, piece)
  return {
    line: uint32At(origins.lines, piece),
    message: message === NO_MESSAGE ? undefined : message,
    source: origins.values[piece] === 1 ? 'value' : 'template',
  }
}

/** Returns the template line that wrote a character of the text, from 1; undefined after its end. */
export function templateLineAt(
  { starts, lines }: Pick<Origins, 'starts' | 'lines'>,
  offset: number,
): number | undefined {
  return lines[lastAtMost(starts, offset)]
}

/** Returns the token that contains a character of the text; after its end, the last one. */
export function tokenAtOffset(renderPreview: RenderPreview, offset: number): number {
  const { start, end } = tokensBetween(renderPreview, offset, offset + 1)
  return end > start ? start : Math.max(0, renderPreview.ids.length - 1)
}

/** Returns the tokens that contain a character that a line of the template wrote, in order; adjacent ones are one range. */
export function tokensOfTemplateLine(renderPreview: RenderPreview, line: number): Span[] {
  const { starts, lines } = renderPreview.origins
  const ranges: { start: number; end: number }[] = []
  for (let piece = 0; piece < lines.length; piece++) {
    if (lines[piece] !== line) continue
    const range = tokensBetween(renderPreview, uint32At(starts, piece), uint32At(starts, piece + 1))
    const last = ranges.at(-1)
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end)
    else if (range.end > range.start) ranges.push(range)
  }
  return ranges
}

/** Returns runs of tokens that begin in the same message (or in none), in order, without gaps. */
export function messageRuns(renderPreview: RenderPreview): (Span & { readonly message: number | undefined })[] {
  const runs: { start: number; end: number; message: number | undefined }[] = []
  for (let index = 0; index < renderPreview.ids.length; index++) {
    const message = originOf(renderPreview, index)?.message
    const last = runs.at(-1)
    if (last && last.message === message) last.end = index + 1
    else runs.push({ start: index, end: index + 1, message })
  }
  return runs
}

/** Returns a mask for a sequence whose own mask is still being computed: that of an earlier sequence, where both begin and end equally. */
export function carriedMask(from: Pick<RenderPreview, 'ids' | 'mask'>, ids: Uint32Array): PreviewMask {
  if (from.mask.kind === 'unknown') return from.mask
  const trained = new Uint8Array(ids.length)
  const shortest = Math.min(from.ids.length, ids.length)
  const head = commonIds(from.ids, ids)
  let tail = 0
  while (tail < shortest - head && from.ids[from.ids.length - 1 - tail] === ids[ids.length - 1 - tail]) tail++
  trained.set(from.mask.trained.subarray(0, head))
  trained.set(from.mask.trained.subarray(from.ids.length - tail), ids.length - tail)
  return { ...from.mask, trained }
}

/** Returns the tokens that contain a character of a range of the text. */
function tokensBetween({ starts, ends }: RenderPreview, from: number, to: number): Span {
  if (to <= from) return { start: 0, end: 0 }
  const end = lastAtMost(starts, to - 1) + 1
  let start = Math.max(0, lastAtMost(starts, from))
  while (start > 0 && uint32At(ends, start - 1) > from) start--
  while (start < end && uint32At(ends, start) <= from) start++
  return { start, end: Math.max(start, end) }
}

/** Returns the index of the last entry of a sorted column that is at most the value; -1 if there is none. */
function lastAtMost(sorted: Uint32Array, value: number): number {
  return countWhile(sorted.length, (index) => uint32At(sorted, index) <= value) - 1
}
