/** Reads records in tests of formats. */
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Violation, violationText } from '#lib/util/schema-violation.ts'
import { source as testSource } from '#testing/trajectories.ts'
import type { Format } from './format.ts'

/** Returns all trajectories of a record. Throws an Error with the violation if the format refuses it. */
export function trajectoriesOf(format: Format, value: unknown, source = testSource): readonly Trajectory[] {
  const read = format.read(value, source)
  if (!read.ok) throw new Error(violationText(read.error))
  return read.trajectories
}

/** Returns the trajectory of a record that contains one. Throws an Error for another number, or if the format refuses it. */
export function trajectoryOf(format: Format, value: unknown, source = testSource): Trajectory {
  const [trajectory, ...others] = trajectoriesOf(format, value, source)
  if (!trajectory || others.length > 0) throw new Error(`the record contains ${others.length + 1} trajectories`)
  return trajectory
}

/** Returns the violation for which a format refuses a record; undefined if it reads the record. */
export function refusalOf(format: Format, value: unknown): Violation | undefined {
  const read = format.read(value, testSource)
  return read.ok ? undefined : read.error
}

/** Returns each response with all ids before it. */
export function calls({ segments }: Trajectory): readonly CallOfModel[] {
  const found: CallOfModel[] = []
  const before: number[] = []
  for (const segment of segments) {
    if (segment.kind === 'response') found.push({ prompt: [...before], response: segment })
    before.push(...segment.ids)
  }
  return found
}

interface CallOfModel {
  readonly prompt: readonly number[]
  readonly response: ResponseSegment
}
