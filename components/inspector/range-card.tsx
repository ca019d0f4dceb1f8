import type { InspectorPartProps } from './inspection.ts'

/** The sums of the chosen tokens. */
export function RangeCard({ inspection }: InspectorPartProps) {
  return <span hidden>{inspection.view.tab}</span>
}
