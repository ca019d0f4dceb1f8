/** Writes a trajectory as a record of a file format, exactly as Export saves it. */

import type { ExportedFile } from '#lib/formats/format.ts'
import { type TrainerFormat, trainerFormats } from '#lib/formats/registry.ts'
import type { TrainingRow } from '#lib/formats/writing/training-row.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** A trajectory, a format, and the trajectory written in that format. */
export interface TrainerRecord {
  readonly trajectory: Trajectory
  readonly format: TrainerFormat
  readonly written: ExportedFile
  readonly rows: readonly TrainingRow[]
}

/** Writes a trajectory in the named format with its arrays. If there is no such format, it uses the first format of a trainer. */
export function recordIn(name: string | undefined, view: TrajectoryView): TrainerRecord {
  const trajectory = unpack(view)
  const format =
    trainerFormats.find((one) => one.name === name) ??
    elementAt(
      trainerFormats.filter((one) => one.name !== OWN),
      0,
    )
  const written = format.write(trajectory)
  return { trajectory, format, written, rows: format.rows(written.value, trajectory) }
}

const OWN = 'rollscope'
