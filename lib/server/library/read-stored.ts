/** Reads the stored trajectory that a request names, in a thread that has only the reader of the store. */
import type { TrajectoryReader } from '#lib/store/record.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'

/** Returns the trajectory. Throws HttpProblem if there is none or if it cannot be read. */
export function readStored(key: string, reader: Pick<TrajectoryReader, 'read'>): Trajectory {
  const found = reader.read(key)?.found
  if (found === undefined)
    throw new HttpProblem({
      status: 404,
      code: 'NO_TRAJECTORY',
      detail: 'there is no such trajectory',
      field: 'trajectory',
    })
  if (typeof found === 'string')
    throw new HttpProblem({
      status: 422,
      code: 'DAMAGED',
      detail: `the stored trajectory cannot be read: ${found}`,
      field: 'trajectory',
    })
  return found
}
