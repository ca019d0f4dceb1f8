/** Filters of drift spans, and steps from one span to another by number. */

import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import type { DriftLayer, DriftReport, DriftSeverity, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Filter of drift spans; an undefined field lets every span pass. */
export interface DriftFilter {
  readonly kind: DriftKind | undefined
  readonly severity: DriftSeverity | undefined
  readonly layer: DriftLayer | undefined
}

/** Filter that every drift span passes. */
export const NO_FILTER: DriftFilter = { kind: undefined, severity: undefined, layer: undefined }

const passes = ({ kind, severity, layer }: DriftSpan, filter: DriftFilter): boolean =>
  (filter.kind ?? kind) === kind && (filter.severity ?? severity) === severity && (filter.layer ?? layer) === layer

/** Returns the numbers of the spans that pass the filter, in order. */
export function filterSpans({ spans }: DriftReport, filter: DriftFilter): readonly number[] {
  const passing: number[] = []
  for (const [index, span] of spans.entries()) if (passes(span, filter)) passing.push(index)
  return passing
}

/** Returns the next span that passes, in the direction. Without a chosen span it begins at the first, or backwards at the last. */
export function driftAfter(
  { spans }: DriftReport,
  chosen: number | undefined,
  direction: 1 | -1,
  filter: DriftFilter = NO_FILTER,
): number | undefined {
  let index = chosen === undefined ? (direction === 1 ? 0 : spans.length - 1) : chosen + direction
  for (; index >= 0 && index < spans.length; index += direction)
    if (passes(elementAt(spans, index), filter)) return index
  return undefined
}
