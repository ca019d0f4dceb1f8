import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DriftReport, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { driftAfter, filterSpans, NO_FILTER } from './drift-steps.ts'

const spans = fc.array(
  fc.record({
    kind: fc.constantFrom('split' as const, 'call-json' as const),
    severity: fc.constantFrom('trained' as const, 'tail' as const),
    layer: fc.constantFrom('structural' as const, 'content' as const),
  }),
  { maxLength: 12 },
)
const filters = fc.record({
  kind: fc.constantFrom(undefined, 'split' as const, 'call-json' as const),
  severity: fc.constantFrom(undefined, 'trained' as const, 'tail' as const),
  layer: fc.constantFrom(undefined, 'structural' as const, 'content' as const),
})
const reportOf = (given: readonly Pick<DriftSpan, 'kind' | 'severity' | 'layer'>[]) =>
  ({ spans: given }) as unknown as DriftReport

test('steps to the next and previous drift span visit exactly the spans that the list shows', () => {
  fc.assert(
    fc.property(spans, filters, (given, filter) => {
      const report = reportOf(given)
      const walk = (direction: 1 | -1): readonly number[] => {
        const seen: number[] = []
        for (
          let at = driftAfter(report, undefined, direction, filter);
          at !== undefined;
          at = driftAfter(report, at, direction, filter)
        )
          seen.push(at)
        return seen
      }
      const listed = filterSpans(report, filter)
      expect(listed).toEqual(
        given.flatMap(({ kind, severity, layer }, index) =>
          (filter.kind === undefined || filter.kind === kind) &&
          (filter.severity === undefined || filter.severity === severity) &&
          (filter.layer === undefined || filter.layer === layer)
            ? [index]
            : [],
        ),
      )
      expect(walk(1)).toEqual(listed)
      expect(walk(-1)).toEqual(listed.toReversed())
    }),
  )
})

test('a step leaves a chosen drift span that does not pass the filter', () => {
  const report = reportOf([
    { kind: 'split', severity: 'tail', layer: 'content' },
    { kind: 'call-json', severity: 'trained', layer: 'content' },
    { kind: 'split', severity: 'trained', layer: 'content' },
  ])
  expect(driftAfter(report, 1, 1, { ...NO_FILTER, kind: 'split' })).toBe(2)
  expect(driftAfter(report, 1, -1, { ...NO_FILTER, kind: 'split' })).toBe(0)
  expect(driftAfter(report, 2, 1, NO_FILTER)).toBeUndefined()
})
