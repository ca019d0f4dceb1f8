/**
 * The severity of a drift: it contains trained tokens, precedes some, or neither; and the turn and the call that it
 * touches.
 */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { DriftSpan } from '../report.ts'
import { type DriftSide, firstTouched, spanAt, trainedIn } from './drift-side.ts'

/** Returns the severity, turn and tool of a drift. */
export function driftImpact(
  { left: ours, right: theirs }: { readonly left: Span; readonly right: Span },
  left: DriftSide,
  right: DriftSide,
): Pick<DriftSpan, 'severity' | 'trained' | 'turn' | 'tool'> {
  const trained = { left: trainedIn(left, ours), right: trainedIn(right, theirs) }
  const isGap = ours.start === ours.end
  const isTrained = isGap ? trained.right > 0 || standsInTrained(left, ours.start) : trained.left > 0
  const isBeforeTrained = trainedIn(left, { start: ours.end, end: left.ids.length }) > 0
  const turn = turnOf(left, ours) ?? turnOf(right, theirs)
  const tool = (findTouchedSpan(left.calls, ours) ?? findTouchedSpan(right.calls, theirs))?.call.name
  return {
    severity: isTrained ? 'trained' : isBeforeTrained ? 'context' : 'tail',
    trained,
    ...(turn !== undefined && { turn }),
    ...(tool !== undefined && { tool }),
  }
}

/** Returns whether a position is between two trained tokens of one response. */
const standsInTrained = (side: DriftSide, token: number): boolean =>
  spanWithin(side.responses, token) !== undefined && trainedIn(side, { start: token - 1, end: token + 1 }) === 2

function turnOf({ responses }: DriftSide, span: Span): number | undefined {
  const found = findTouchedSpan(responses, span)
  return found && countWhile(responses.length, (index) => elementAt(responses, index).start < found.start)
}

/** Returns the first span that shares a token with the given one, or that surrounds an empty one. */
const findTouchedSpan = <S extends Span>(spans: readonly S[], span: Span): S | undefined =>
  span.start === span.end ? spanWithin(spans, span.start) : firstTouched(spans, span)

function spanWithin<S extends Span>(spans: readonly S[], place: number): S | undefined {
  const found = spanAt(spans, place)
  return found && found.start < place ? found : undefined
}
