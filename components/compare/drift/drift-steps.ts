/** From one drift span to another, by their numbers. */
import type { DriftKind, DriftLayer, DriftReport, DriftSeverity, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Which spans are listed; undefined: all. */
export interface DriftFilter {
  readonly kind: DriftKind | undefined
  readonly severity: DriftSeverity | undefined
  readonly layer: DriftLayer | undefined
}

export const NO_FILTER: DriftFilter = { kind: undefined, severity: undefined, layer: undefined }

const passes = ({ kind, severity, layer }: DriftSpan, filter: DriftFilter): boolean =>
  (filter.kind ?? kind) === kind && (filter.severity ?? severity) === severity && (filter.layer ?? layer) === layer

/** Numbers of the spans that pass, in order. */
export const filtered = ({ spans }: DriftReport, filter: DriftFilter): readonly number[] =>
  spans.flatMap((span, index) => (passes(span, filter) ? [index] : []))

/** The next one that passes, after or before the one that is chosen; without one: from the first, or from the last. */
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
