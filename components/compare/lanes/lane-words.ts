/** Texts of the lanes. */

import { tokenName } from '#components/token-view/grid/token-box.ts'
import { countText } from '#components/token-view/numbers.ts'
import { segmentTitle } from '#components/token-view/segment-title.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { DriftSpan } from '#lib/trajectory/drift/report.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { LaneSelection, LanesPicture } from './lanes-picture.ts'
import { driftOfToken, runOfDrift } from './pairing.ts'
import { itemOfToken, otherSide, type RowSide } from './rows/rows.ts'
import type { FoldedLines, LaneColumn } from './rows/visible-range.ts'

/** Returns the text of a fold, such as `171 identical tokens · 4 segments`. */
export function foldText({ tokens, segments, isDivider }: FoldedLines, side: RowSide): string {
  const count = tokens.end - tokens.start
  if (isDivider) return `${countText(count)} identical`
  const further = segments.end - segments.start - 1
  const names = further > 0 ? ` · ${countText(further + 1)} segments` : ''
  return `${countText(count)} identical ${count === 1 ? 'token' : 'tokens'}${further > 0 ? names : ` · ${titleOf(side, segments.start)}`}`
}

/** Returns the title of a segment; '' if there is none with this index. */
export const titleOf = ({ segments }: RowSide, index: number): string => {
  const segment = segments[index]
  return segment ? segmentTitle(segment) : ''
}

/** Returns the text of a gap, such as `think block dropped by the template · 27 tokens on the left`. */
export function missingText(span: DriftSpan, side: SideName, vocabulary: DriftVocabulary): string {
  const other = otherSide(side)
  const count = span[other].end - span[other].start
  return `${vocabulary.missingText(span, side)} · ${countWithNoun(count, 'token')} on the ${other}`
}

/**
 * Returns the texts of a marker, such as `split · merge`. If more spans begin in the row (`split` and `+2`),
 * or in one column, whose gutter also has signs, only the kind is shown.
 */
export function noteTexts(
  span: DriftSpan | undefined,
  count: number,
  column: LaneColumn,
  { kindText, noun }: DriftVocabulary,
): { readonly kind: string; readonly more: string } {
  const kind = span && kindText(column === 'both' || count > 1 ? { kind: span.kind } : span)
  return { kind: kind ?? noun, more: count > 1 ? `+${countText(count - 1)}` : '' }
}

/** Returns the sentence that a screen reader speaks for a drift span on a side; '' if there is no such span. */
export function driftSentence(
  { pairing, spans, vocabulary }: Pick<LanesPicture, 'pairing' | 'spans' | 'vocabulary'>,
  drift: number,
  side: SideName,
): string {
  const span = spans[drift]
  const alignedRun = runOfDrift(pairing, drift)
  if (!span || !alignedRun) return ''
  const other = otherSide(side)
  const count = alignedRun[other].end - alignedRun[other].start
  const there = count === 0 ? `nothing on the ${other}` : `${countWithNoun(count, 'token')} on the ${other}`
  const { noun, kindText, causeText } = vocabulary
  return `${noun} ${countText(drift + 1)} of ${countText(spans.length)}: ${kindText(span)}; ${there}. ${causeText(span)}`
}

/** Returns the sentence that a screen reader speaks for the chosen tokens, their drift span or their fold. */
export function selectionSentence({ side, anchor, focus }: LaneSelection, lanes: LanesPicture): string {
  const { rows, pairing, pictures } = lanes
  const item = itemOfToken(rows, side, focus)
  if (item && item.kind !== 'tokens')
    return `${countText(item.left.end - item.left.start)} identical tokens, folded. Enter unfolds them.`
  const picture = pictures[side]
  const token = tokenAt(picture.trajectory, focus)
  if (!token) return ''
  const count = Math.abs(focus - anchor) + 1
  const drift = driftOfToken(pairing, { side, token: focus })
  return [
    count > 1 && `${countText(count)} tokens selected, to`,
    `${side}:`,
    tokenName(token, picture),
    drift !== undefined && `; ${driftSentence(lanes, drift, side)}`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Returns the sentence for two sides without drift. */
export const equalSidesText = (count: number): string =>
  count === 0
    ? 'There are no tokens on either side.'
    : `No drift: both sides are the same ${countWithNoun(count, 'token')}.`
