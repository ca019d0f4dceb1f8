/** Single trajectories over HTTP: reads and exports one. */

import type { TrajectorySummary } from '#lib/api/library.ts'
import type { Format } from '#lib/formats/format.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { encodedFile, type Writer } from '#lib/formats/writing/writer.ts'
import { isWorthPacking } from '#lib/store/packed.ts'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import { type Labels, labelsOf } from '#lib/trajectory/format/labels.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ADVANTAGE_FORMULAS, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { FORCED_CHOICES, withForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { PACKED_TYPE, packedAnswer, packedBytes } from '#lib/trajectory/tokens/packed-bytes.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord } from '../http/query.ts'
import type { Services } from '../services.ts'
import { advantageColumn } from './export-advantage.ts'

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

/**
 * Returns a trajectory for a viewer, which extends the time of a rollout on it: as packed bytes if the viewer accepts them, because reading
 * JSON costs the page a worker. Throws HttpProblem 404.
 */
export function trajectoryForViewer(key: string, all: Services, accept: string | null = null): Trajectory | Response {
  all.runs.lookedAt(key)
  if (!accept?.includes(PACKED_TYPE)) return storedTrajectory(key, all)
  const copy = all.store.packed(key)
  if (copy) return packedResponse(copy.labels, copy.bytes)
  const trajectory = storedTrajectory(key, all)
  if (trajectory.outcome.kind !== 'running' && isWorthPacking(trajectory)) all.health.recheck(key)
  return packedResponse(labelsOf(trajectory), packedBytes(trajectory))
}

const packedResponse = (labels: Labels, bytes: Uint8Array): Response =>
  new Response(packedAnswer(labels, bytes), {
    headers: { 'content-type': PACKED_TYPE, 'cache-control': 'no-store' },
  })

/** Returns the problem of a missing trajectory, which says whether it was deleted. */
export const noTrajectory = (key: string, store: Services['store']): HttpProblem =>
  store.isDeleted(key)
    ? new HttpProblem({
        status: 404,
        code: 'DELETED',
        detail: `the trajectory ${shownKey(key)} was deleted`,
        hint: 'It can be restored for at least a day.',
      })
    : new HttpProblem({
        status: 404,
        code: 'NO_TRAJECTORY',
        detail: `there is no such trajectory: ${shownKey(key)}`,
        hint: 'It may be on another machine, or in another ROLLSCOPE_DATA folder.',
      })

const shownKey = (key: string): string => JSON.stringify(key.length > 80 ? `${key.slice(0, 80)} …` : key)

const OWN = 'rollscope'

/** Returns a trajectory as a file in the format of the query. Throws HttpProblem. */
export function exportTrajectory(request: Request, key: string, all: Services): Response {
  const format = formatToWrite(new URL(request.url).searchParams.get('format') ?? OWN)
  const forced = queryWord(request, 'forced', FORCED_CHOICES, 'context')
  const formula = new URL(request.url).searchParams.has('advantage')
    ? queryWord(request, 'advantage', ADVANTAGE_FORMULAS, DEFAULT_FORMULA)
    : undefined
  const trajectory = advantageColumn([key], formula, all)(withForced(storedTrajectory(key, all), forced), key)
  const why = whyExcluded(trajectory)
  if (why !== undefined && format.name !== OWN)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TOKENS',
      detail: `${format.label} cannot represent the trajectory ${shownKey(key)}. ${why}`,
      hint: 'Rollscope’s own format holds it: format=rollscope.',
    })
  const { content, mediaType } = encodedFile(format, format.write(trajectory).value)
  return new Response(content as BodyInit, {
    headers: {
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${fileName(trajectory, format.name, format.encoding?.extension)}"`,
      'cache-control': 'no-store',
    },
  })
}

/** Description of this choice in the HTTP interface. */
export const FORCED_TEXT =
  'Tokens that a branch inserted: `context` (default: loss mask 0) or `trained` (loss mask 1). The model sampled neither.'

/**
 * Returns why a trajectory is not exported: a trainer can use no sample without tokens, and readers of its format refuse one. Undefined if
 * it has tokens.
 */
export const whyExcluded = (trajectory: Trajectory): string | undefined =>
  tokenCount(trajectory) > 0 ? undefined : `No tokens: ${endOf(trajectory.outcome)}`

function endOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'running':
      return 'the run has just started.'
    case 'failed':
      return `the run failed before its first token with ${outcome.code}: ${outcome.message}`
    case 'ended':
      return `the run ended before its first token (${outcome.reason}).`
  }
}

/** Returns the export format of this name. Throws HttpProblem. */
export const formatToWrite = (name: string): Writer => formatNamed(name, writableFormats, 'export format')

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
