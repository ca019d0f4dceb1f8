/** Each segment's text encoded by itself: chat pipelines often encode message by message. */

import { withoutFirstSpace } from '#lib/rollout/record/retokenize.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { alignTokens, driftOf } from '#lib/trajectory/drift/align.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { SegmentAlone } from '../compare/shown-side.ts'
import type { TextSide } from './text-side.ts'

export function segmentsAlone(
  segments: readonly SegmentView[],
  { text, edges }: Pick<TextSide, 'text' | 'edges'>,
  vocab: Vocab,
  tokenizer: Tokenizer,
): readonly SegmentAlone[] {
  const known = new Map<number, Uint8Array>()
  const bytes = (id: number): Uint8Array => {
    const found =
      known.get(id) ?? (Object.hasOwn(vocab, id) ? bytesOf(vocab[id] as Vocab[string]) : tokenizer.bytes(id))
    known.set(id, found)
    return found
  }
  return segments.map(({ kind, ids }, index) => {
    const alone = tokenizer.encode(withoutFirstSpace(text.slice(edges[index], edges[index + 1]), tokenizer))
    const drift = driftOf(alignTokens(ids, alone, bytes))
    const drifted = drift.reduce((sum, { left, right }) => sum + (left.end - left.start || right.end - right.start), 0)
    return { kind, tokens: ids.length, alone: alone.length, drifted }
  })
}
