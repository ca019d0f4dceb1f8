import type { InspectorPartProps } from './inspection.ts'

/** Each /generate call exactly: what was sent, what came back, how long it took. */
export function RequestsTab({ inspection }: InspectorPartProps) {
  return <p className="p-4 text-faint">{inspection.trajectory.title}</p>
}
