/** Columns that were computed after a trajectory was opened, shown like those of its file. */
import type { TrajectoryView } from './trajectory-view.ts'

/** Adds a column with one value for each token, NaN = unknown. It replaces a column of the same name. */
export function withColumn(trajectory: TrajectoryView, name: string, values: Float64Array): TrajectoryView {
  let start = 0
  return {
    ...trajectory,
    segments: trajectory.segments.map((segment) => {
      const column = values.subarray(start, start + segment.ids.length)
      start += segment.ids.length
      return { ...segment, columns: { ...segment.columns, [name]: column } }
    }),
  }
}
