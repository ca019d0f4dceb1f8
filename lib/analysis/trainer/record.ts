/** Writes a trajectory as a record of a file format, exactly as Export saves it. */

import type { ExportedFile } from '#lib/formats/format.ts'
import { type WritableFormat, writableFormats } from '#lib/formats/registry.ts'
import type { TrainingRow } from '#lib/formats/training-row.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A trajectory, a format, and the trajectory written in that format. */
export interface TrainerRecord {
  readonly trajectory: Trajectory
  readonly format: WritableFormat
  readonly written: ExportedFile
  readonly rows: readonly TrainingRow[]
}

/** Writes a trajectory in the named format. If there is no such format, it uses the first format of a trainer. */
export function recordIn(name: string | undefined, view: TrajectoryView): TrainerRecord {
  const trajectory = unpack(view)
  const format = (writableFormats.find((one) => one.name === name) ??
    writableFormats.find((one) => one.name !== OWN)) as WritableFormat
  const written = format.write(trajectory)
  return { trajectory, format, written, rows: format.rows(written.value, trajectory) }
}

const OWN = 'rollscope'
