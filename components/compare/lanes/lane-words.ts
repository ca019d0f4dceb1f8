/** What the lanes say in words. */

import type { SideName } from '#lib/compare/compare-sides.ts'
import type { DriftKind, DriftSpan } from '#lib/core/drift/report.ts'
import { countText } from '../../trajectory/numbers.ts'
import { segmentTitle } from '../../trajectory/token-reading.ts'
import { KIND_TITLES, kindText } from '../drift-words.ts'
import { driftNumbered, type Pairing } from './pairing.ts'
import { otherSide, type RowSide } from './rows.ts'
import type { Column, Fold } from './sight.ts'

/** `171 identical tokens · prompt, response and 3 further segments` */
export function foldText({ tokens, segments, isDivider }: Fold, side: RowSide): string {
  const count = tokens.end - tokens.start
  if (isDivider) return `${countText(count)} identical`
  const further = segments.end - segments.start - 1
  const names = further > 0 ? ` · ${countText(further + 1)} segments` : ''
  return `${countText(count)} identical ${count === 1 ? 'token' : 'tokens'}${further > 0 ? names : ` · ${titleOf(side, segments.start)}`}`
}

export const titleOf = ({ segments }: RowSide, index: number): string => {
  const segment = segments[index]
  return segment ? segmentTitle(segment) : ''
}

/** What a side lacks, said in its place. */
const MISSING: Readonly<Record<DriftKind, string>> = {
  split: 'nothing here',
  normalisation: 'nothing here',
  'partial-utf8': 'these bytes are lost',
  'call-json': 'dropped when the call was written again',
  'call-rewritten': 'dropped by the tool-call parser',
  'think-stripped': 'think block dropped by the template',
  'think-inserted': 'no think block on this side',
  'end-of-turn': 'no end of turn on this side',
  separator: 'no separator on this side',
  'special-tokens': 'no special token on this side',
  'context-changed': 'not in this side’s system prompt or tools',
  truncation: 'this side has ended',
  content: 'not on this side',
  unknown: 'not on this side',
}

/** `think block dropped by the template · 27 tokens on the left` */
export function missingText(span: DriftSpan, side: SideName): string {
  const other = otherSide(side)
  const count = span[other].end - span[other].start
  return `${missingWords(span, side)} · ${countText(count)} ${count === 1 ? 'token' : 'tokens'} on the ${other}`
}

/** A think block that only the right has was put in, and what the left has was stripped: the other way round nothing was dropped. */
function missingWords({ kind }: DriftSpan, side: SideName): string {
  if (kind === 'think-stripped' && side === 'left') return MISSING['think-inserted']
  if (kind === 'call-rewritten' && side === 'left') return 'no such call text on this side'
  return MISSING[kind]
}

/** `split · merge +2`; `split` in one column, whose gutter has signs too. */
export function noteText(span: DriftSpan | undefined, count: number, column: Column): string {
  const kind = span && (column === 'both' ? KIND_TITLES[span.kind] : kindText(span))
  return `${kind ?? 'drift'}${count > 1 ? ` +${countText(count - 1)}` : ''}`
}

/** What a screen reader is told of the drift that a token stands in. */
export function driftSentence(pairing: Pairing, spans: readonly DriftSpan[], drift: number, side: SideName): string {
  const span = spans[drift]
  const stretch = driftNumbered(pairing, drift)
  if (!span || !stretch) return ''
  const other = otherSide(side)
  const count = stretch[other].end - stretch[other].start
  const there =
    count === 0 ? `nothing on the ${other}` : `${countText(count)} ${count === 1 ? 'token' : 'tokens'} on the ${other}`
  return `drift ${countText(drift + 1)} of ${countText(spans.length)}: ${kindText(span)}; ${there}. ${span.cause}`
}
