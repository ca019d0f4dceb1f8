/** Single trajectories over HTTP. */

import type { TrajectorySummary } from '#lib/api/library.ts'
import type { Format } from '#lib/formats/format.ts'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'

/** Returns a stored trajectory. Throws HttpProblem 404. */
export function storedTrajectory(key: string, { store }: Services): Trajectory {
  const trajectory = store.get(key)
  if (!trajectory) throw noTrajectory(key, store)
  return trajectory
}

/** Returns a stored trajectory; undefined if it does not exist or its record is damaged. */
export function readableTrajectory(key: string, store: Pick<TrajectoryStore, 'get'>): Trajectory | undefined {
  try {
    return store.get(key)
  } catch (error) {
    if (isDamagedRecord(error)) return undefined
    throw error
  }
}

/** Returns the row of a stored trajectory, without reading its record. Throws HttpProblem 404. */
export function storedRow(key: string, { store }: Services): TrajectorySummary {
  const row = store.row(key)
  if (!row) throw noTrajectory(key, store)
  return row
}

/** Returns a trajectory that has ended, because a run writes its own record. Throws HttpProblem 404 and, with the hint, 409. */
export function endedTrajectory(key: string, all: Services, hint: string): Trajectory {
  const trajectory = storedTrajectory(key, all)
  if (trajectory.outcome.kind !== 'running') return trajectory
  throw new HttpProblem({ status: 409, code: 'RUNNING', detail: 'a rollout of this trajectory is running', hint })
}

/** Returns the problem of a missing trajectory, which says whether it was deleted. */
export const noTrajectory = (key: string, store: Services['store']): HttpProblem =>
  store.isDeleted(key)
    ? new HttpProblem({
        status: 404,
        code: 'DELETED',
        detail: `the trajectory ${quoteKey(key)} was deleted`,
        hint: 'It can be restored for at least a day.',
      })
    : new HttpProblem({
        status: 404,
        code: 'NO_TRAJECTORY',
        detail: `there is no such trajectory: ${quoteKey(key)}`,
        hint: 'It may be on another machine, or in another ROLLSCOPE_DATA folder.',
      })

/** Returns a key in quotes, shortened for an error. */
export const quoteKey = (key: string): string => JSON.stringify(key.length > 80 ? `${key.slice(0, 80)} …` : key)

/** Returns the format of this name. `what` is the kind of format in the error. Throws HttpProblem. */
export function formatNamed<F extends Pick<Format, 'name'>>(name: string, formats: readonly F[], what: string): F {
  const format = formats.find((known) => known.name === name)
  if (format) return format
  throw new HttpProblem({
    status: 422,
    code: 'NO_FORMAT',
    detail: `there is no ${what} ${JSON.stringify(name)}`,
    hint: `Formats: ${formats.map((known) => known.name).join(', ')}.`,
  })
}
