import type { InspectorPartProps } from './inspection.ts'

/** The numbers of the tokens as charts. */
export function ChartsTab({ inspection }: InspectorPartProps) {
  return <p className="p-4 text-faint">{inspection.trajectory.title}</p>
}
