/** Columns that were computed after a trajectory was opened, shown like those of its file. */
import type { ColumnMeaning } from '../format/trajectory.ts'
import type { TrajectoryView } from './trajectory-view.ts'

/** A column that was computed after a trajectory was opened. */
export interface AddedColumn {
  readonly name: string
  /** One number for each token; NaN = unknown. */
  readonly values: Float64Array
  readonly meaning: ColumnMeaning
}

/** Adds a column with one value for each token, NaN = unknown, and what it means. It replaces a column of the same name. */
export function withColumn(
  trajectory: TrajectoryView,
  name: string,
  values: Float64Array,
  meaning?: ColumnMeaning,
): TrajectoryView {
  let start = 0
  return {
    ...trajectory,
    ...(meaning && { columnMeanings: { ...trajectory.columnMeanings, [name]: meaning } }),
    segments: trajectory.segments.map((segment) => {
      const column = values.subarray(start, start + segment.ids.length)
      start += segment.ids.length
      return { ...segment, columns: { ...segment.columns, [name]: column } }
    }),
  }
}
