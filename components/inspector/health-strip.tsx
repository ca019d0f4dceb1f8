import type { InspectorPartProps } from './inspection.ts'

/** What is wrong with the trajectory, each with its place. */
export function HealthStrip({ inspection }: InspectorPartProps) {
  return <span hidden>{inspection.view.tab}</span>
}
