import type { InspectorPartProps } from './inspection.ts'

/** The file as JSON. */
export function RawTab({ inspection }: InspectorPartProps) {
  return <p className="p-4 text-faint">{inspection.trajectory.title}</p>
}
