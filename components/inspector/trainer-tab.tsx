import type { InspectorPartProps } from './inspection.ts'

/** The exact arrays that each export format gives a trainer. */
export function TrainerTab({ inspection }: InspectorPartProps) {
  return <p className="p-4 text-faint">{inspection.trajectory.title}</p>
}
