/** The record of a trajectory in a format: what Export saves. */

import type { ExportedFile } from '#lib/formats/format.ts'
import { type WritableFormat, writableFormats } from '#lib/formats/registry.ts'
import type { TrainingRow } from '#lib/formats/training-row.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

export interface TrainerRecord {
  readonly trajectory: Trajectory
  readonly format: WritableFormat
  readonly written: ExportedFile
  readonly rows: readonly TrainingRow[]
}

/** In the format of that name; where there is none, in the first that is a trainer's. */
export function recordIn(name: string | undefined, view: TrajectoryView): TrainerRecord {
  const trajectory = unpack(view)
  const format = (writableFormats.find((one) => one.name === name) ??
    writableFormats.find((one) => one.name !== OWN)) as WritableFormat
  const written = format.write(trajectory)
  return { trajectory, format, written, rows: format.rows(written.value, trajectory) }
}

const OWN = 'rollscope'
