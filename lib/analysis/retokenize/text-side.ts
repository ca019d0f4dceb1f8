/**
 * Builds the text side: encode(decode(ids)) of the whole sequence. Segments, mask, messages, think blocks and calls are placed at the
 * same characters. A token that crosses a segment boundary belongs to the segment in which it starts.
 */

import type { TextRange } from '#lib/parsers/parser.ts'
import { encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { withoutFirstSpace } from '#lib/rollout/record/retokenize.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { alignTokens, driftOf } from '#lib/trajectory/drift/align.ts'
import { compareTrajectories, type TrajectoryComparison } from '#lib/trajectory/drift/compare.ts'
import type { Span, ToolCall, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, characterLength, textWithStarts, tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { LoadedSide, SegmentEncoding, ShownSide, SideTokenizer } from '../compare/shown-side.ts'
import { isSameTokenizer, textCaveats } from './caveats.ts'
import { createReconstruction, wholeVocab } from './remade.ts'

/** Returns the side in mode text, with its caveats. Segments are also encoded alone if the tokenizer is the recorded one. */
export function textSide(
  { trajectory, as }: Pick<LoadedSide, 'trajectory' | 'as'>,
  { tokenizer }: Pick<SideTokenizer, 'tokenizer'>,
): ShownSide {
  const { segments, vocab, written, encoded, remade } = encodedAgain(trajectory, tokenizer)
  return {
    trajectory: remade,
    caveats: textCaveats({ trajectory, as, tokenizer, vocab, ...written, unsure: encoded.unsure }),
    ...(isSameTokenizer(trajectory, tokenizer) && {
      perSegment: encodeEachSegment(segments, written, vocab, tokenizer),
    }),
  }
}

/** Compares a trajectory with its text side, without caveats and without segments that are encoded alone. */
export const textComparison = (trajectory: TrajectoryView, tokenizer: Tokenizer): TrajectoryComparison =>
  compareTrajectories(trajectory, encodedAgain(trajectory, tokenizer).remade)

function encodedAgain(trajectory: TrajectoryView, tokenizer: Tokenizer) {
  const segments = segmentsOf(trajectory)
  const vocab = wholeVocab(trajectory.vocab, segments, tokenizer)
  const written = writtenText(segments, vocab)
  const encoded = encodedText(written.text, tokenizer)
  const isSame = isSameTokenizer(trajectory, tokenizer)
  const { segments: _, ...frame } = createReconstruction(trajectory, encoded.ids, {
    mode: 'text',
    tokenizer,
    endOfTurnId: endOfTurnIn(trajectory, tokenizer),
  })
  const carriedSegments = segments.map((segment, index) =>
    carryBytes(segment, index, written, encoded, frame.vocab, isSame),
  )
  const remade: TrajectoryView = { ...frame, segments: carriedSegments }
  return { segments, vocab, written, encoded, remade }
}

/** The text of all segments. Offsets are in UTF-16 code units. */
interface TextSide {
  readonly text: string
  /** Offset at which each token starts, and the length of the text last. */
  readonly starts: readonly number[]
  /** Offset at which each segment starts, and the length of the text last. A character belongs to the segment in which it begins. */
  readonly edges: readonly number[]
  /** First token of each segment, and the number of tokens last. */
  readonly firsts: readonly number[]
}

function writtenText(segments: readonly SegmentView[], vocab: Vocab): TextSide {
  const ids = segments.flatMap((segment) => Array.from(segment.ids))
  const { text, starts } = textWithStarts(ids, vocab)
  const firsts = [0]
  for (const segment of segments) firsts.push(elementAt(firsts, firsts.length - 1) + segment.ids.length)
  const edges = firsts.map((first) => {
    if (first === ids.length) return text.length
    const start = elementAt(starts, first)
    // If a segment ends with a part of a character, that character belongs to the segment.
    return endsWithinCharacter(ids, first, vocab) ? start + characterLength(text, start) : start
  })
  return { text, starts, edges, firsts }
}

const MOST_BEFORE = 3

function endsWithinCharacter(ids: readonly number[], end: number, vocab: Vocab): boolean {
  const tail: number[] = []
  for (let index = end - 1; index >= 0 && tail.length < MOST_BEFORE; index--)
    tail.unshift(...bytesOf(vocab[elementAt(ids, index)] ?? '').slice(-MOST_BEFORE))
  return [1, 2, 3].some((count) => count <= tail.length && isUnfinished(Uint8Array.from(tail.slice(-count))))
}

function isUnfinished(bytes: Uint8Array): boolean {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }) === ''
  } catch {
    return false
  }
}

interface Encoded {
  readonly ids: readonly number[]
  /** Offsets in the written text, even if the tokenizer normalizes it. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  readonly unsure: readonly Span[]
}

function encodedText(text: string, tokenizer: Tokenizer): Encoded {
  const plainText = withoutFirstSpace(text, tokenizer)
  const { ids, starts, ends, unsure } = encodeWithOffsets(tokenizer, plainText)
  const shift = text.length - plainText.length
  const shifted = (offsets: readonly number[]) => (shift === 0 ? offsets : offsets.map((offset) => offset + shift))
  return { ids, starts: shifted(starts), ends: shifted(ends), unsure }
}

/** Returns the id of the added token that has the text of the recorded end of turn; undefined if there is none. */
function endOfTurnIn({ model, vocab }: TrajectoryView, { addedTokens }: Tokenizer): number | undefined {
  const id = model.tokenizer?.endOfTurnId
  const text = id === undefined ? undefined : vocab[id]
  if (addedTokens.some((token) => token.id === id && (text === undefined || token.content === text))) return id
  return addedTokens.find(({ content }) => content === text)?.id
}

function carryBytes(
  segment: SegmentView,
  index: number,
  written: TextSide,
  encoded: Encoded,
  vocab: Vocab,
  isSameTokenizer: boolean,
): SegmentView {
  const own = tokensFrom(encoded.starts, elementAt(written.edges, index), elementAt(written.edges, index + 1))
  const ids = encoded.ids.slice(own.start, own.end)
  const mask = segment.mask && {
    mask: ids.map((_, token) => maskAt(segment, elementAt(encoded.starts, own.start + token), index, written)),
  }
  if (segment.kind === 'prompt') return { kind: 'prompt', ids, ...mask, messages: segment.messages }
  return {
    kind: 'response',
    ids,
    ...mask,
    ...carriedSpans(segment, index, written, encoded, own, textWithStarts(ids, vocab).starts),
    ...(isSameTokenizer && segment.finish && { finish: segment.finish }),
  }
}

/** Returns the tokens that start within a range of the text. */
function tokensFrom(starts: readonly number[], start: number, end: number): Span {
  const count = starts.length - 1
  const first = (offset: number) => countWhile(count, (token) => elementAt(starts, token) < offset)
  return { start: first(start), end: first(end) }
}

/** Returns the recorded mask of the token that begins the character at an offset. */
function maskAt({ mask = [] }: SegmentView, offset: number, index: number, { starts, firsts }: TextSide): 0 | 1 {
  const first = elementAt(firsts, index)
  let token = countWhile(starts.length - 1, (at) => elementAt(starts, at) <= offset) - 1
  while (token > first && starts[token - 1] === starts[token]) token--
  const last = elementAt(firsts, index + 1) - 1
  return mask[Math.min(Math.max(token, first), last) - first] === 1 ? 1 : 0
}

function carriedSpans(
  segment: ResponseView,
  index: number,
  { starts, edges, firsts }: TextSide,
  encoded: Encoded,
  own: Span,
  ownStarts: readonly number[],
): Pick<ResponseView, 'thinks' | 'toolCalls'> {
  const first = elementAt(firsts, index)
  const edge = elementAt(edges, index)
  const span = ({ start, end }: Span): Span => {
    if (end <= start) return { start: 0, end: 0 }
    const found = tokensAt(encoded, elementAt(starts, first + start), elementAt(starts, first + end))
    const within = (token: number) => Math.min(Math.max(token, own.start), own.end) - own.start
    return { start: within(found.start), end: within(found.end) }
  }
  /** Maps an offset in the text of the recorded response to an offset in the text of the new tokens. */
  const moved = (offset: number): number => {
    const at = edge + offset
    const token = countWhile(own.end - own.start, (number) => elementAt(encoded.starts, own.start + number) <= at) - 1
    if (token < 0) return 0
    const [from, to] = [elementAt(ownStarts, token), elementAt(ownStarts, token + 1)]
    return Math.min(from + at - elementAt(encoded.starts, own.start + token), to)
  }
  const range = ({ start, end }: TextRange): TextRange => ({ start: moved(start), end: moved(end) })
  const call = (found: ToolCall): ToolCall => {
    const place = { span: span(found.span), text: range(found.text) }
    return found.kind === 'malformed'
      ? { ...found, ...place, at: moved(found.at) }
      : {
          ...found,
          ...place,
          arguments: found.arguments.map((one) => ({ ...one, span: span(one.span), text: range(one.text) })),
        }
  }
  return {
    thinks: segment.thinks.map((think) => ({ ...think, ...span(think) })),
    toolCalls: segment.toolCalls.map(call),
  }
}

/** Encodes the text of each segment alone, because chat pipelines often encode message by message. */
function encodeEachSegment(
  segments: readonly SegmentView[],
  { text, edges }: Pick<TextSide, 'text' | 'edges'>,
  vocab: Vocab,
  tokenizer: Tokenizer,
): readonly SegmentEncoding[] {
  const known = new Map<number, Uint8Array>()
  const bytes = (id: number): Uint8Array => {
    const found =
      known.get(id) ?? (Object.hasOwn(vocab, id) ? bytesOf(vocab[id] as Vocab[string]) : tokenizer.bytes(id))
    known.set(id, found)
    return found
  }
  return segments.map(({ kind, ids }, index) => {
    const encodedAlone = tokenizer.encode(withoutFirstSpace(text.slice(edges[index], edges[index + 1]), tokenizer))
    const drift = driftOf(alignTokens(ids, encodedAlone, bytes))
    const drifted = drift.reduce((sum, { left, right }) => sum + (left.end - left.start || right.end - right.start), 0)
    return { kind, tokens: ids.length, alone: encodedAlone.length, drifted }
  })
}
