import type { InspectorPartProps } from './inspection.ts'

/** The conversation as it was parsed, and the tokens of each part. */
export function MessagesTab({ inspection }: InspectorPartProps) {
  return <p className="p-4 text-faint">{inspection.trajectory.title}</p>
}
