/** Whom a drift hits: trained tokens, what stands before some, or nothing that is learnt; and in which turn and call. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { DriftSpan } from '../report.ts'
import { type DriftSide, firstTouched, spanAt, trainedIn } from './drift-side.ts'

export function hitBy(
  { left: ours, right: theirs }: { readonly left: Span; readonly right: Span },
  left: DriftSide,
  right: DriftSide,
): Pick<DriftSpan, 'severity' | 'trained' | 'turn' | 'tool'> {
  const trained = { left: trainedIn(left, ours), right: trainedIn(right, theirs) }
  const isGap = ours.start === ours.end
  const isTrained = isGap ? trained.right > 0 || standsInTrained(left, ours.start) : trained.left > 0
  const isBeforeTrained = trainedIn(left, { start: ours.end, end: left.ids.length }) > 0
  const turn = turnOf(left, ours) ?? turnOf(right, theirs)
  const tool = (touched(left.calls, ours) ?? touched(right.calls, theirs))?.call.name
  return {
    severity: isTrained ? 'trained' : isBeforeTrained ? 'context' : 'tail',
    trained,
    ...(turn !== undefined && { turn }),
    ...(tool !== undefined && { tool }),
  }
}

/** Between two trained tokens of one response. */
const standsInTrained = (side: DriftSide, token: number): boolean =>
  spanWithin(side.responses, token) !== undefined && trainedIn(side, { start: token - 1, end: token + 1 }) === 2

function turnOf({ responses }: DriftSide, span: Span): number | undefined {
  const found = touched(responses, span)
  return found && countWhile(responses.length, (index) => elementAt(responses, index).start < found.start)
}

/** The first with a token of the span; for an empty one that in which it stands. */
const touched = <S extends Span>(spans: readonly S[], span: Span): S | undefined =>
  span.start === span.end ? spanWithin(spans, span.start) : firstTouched(spans, span)

function spanWithin<S extends Span>(spans: readonly S[], place: number): S | undefined {
  const found = spanAt(spans, place)
  return found && found.start < place ? found : undefined
}
