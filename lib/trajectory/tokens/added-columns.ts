/** Numbers of all tokens that were computed after a trajectory was read, shown like the columns of its file. */
import type { TrajectoryView } from './trajectory-view.ts'

/** `values`: one for each token, NaN = unknown. A column of this name gives way. */
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
