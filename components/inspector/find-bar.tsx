import type { InspectorPartProps } from './inspection.ts'

/** What is looked for, how often it is there, and which of the hits is shown. */
export function FindBar({ inspection }: InspectorPartProps) {
  return <span hidden>{inspection.view.tab}</span>
}
