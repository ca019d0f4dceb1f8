/** The worker's side of reading: reads a trajectory from a file or from a JSON answer of the server, and packs it for the transfer to the page. */

import { type FailedRecord, type FailedRecords, MOST_FAILED_RECORDS } from '#lib/api/imported.ts'
import { openFile } from '#lib/formats/reading/open.ts'
import type { Answer } from '#lib/tasks/worker-protocol.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Packed, pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { ApiError } from '../api.ts'
import { PAGE_OR_SERVER_TOOLS, trajectoryByteSource } from '../files/file-bytes.ts'
import { FileError, SeveralRecordsError } from '../files/file-error.ts'

/** The source of a trajectory. */
export type ReadSource =
  | {
      readonly kind: 'file'
      readonly file: File
      /** For records that have no time. */
      readonly now: string
      /** For records that have no id. */
      readonly id: string
      /** Position of the requested trajectory in the file, from 0. */
      readonly at: number
      /** True if a file with several records throws SeveralRecordsError as soon as the second one is found. */
      readonly refusesSeveral: boolean
    }
  /** The JSON of an answer of the server. */
  | { readonly kind: 'json'; readonly bytes: ArrayBuffer }

/** A trajectory that was read. */
export interface ReadAnswer {
  readonly trajectory: TrajectoryView
  /** Number of trajectories in the file, of which this is the first or the requested one. */
  readonly count: number
  /** Records of the file that could not be read. */
  readonly failed: FailedRecords
}

/** Reads a trajectory in the worker; its buffers are transferred. Throws FileError, ServerFileError, SeveralRecordsError or ApiError. */
export const readTrajectory: Answer<ReadSource, ReadAnswer> = async (source, { signal, transfer }) => {
  const { buffers, ...answer } = await (source.kind === 'file' ? fromFile(source, signal) : fromJson(source.bytes))
  transfer.push(...buffers)
  return answer
}

type PackedRead = Packed & ReadAnswer

/** Returns the requested trajectory of a file after a check of all records. */
async function fromFile(
  { file, now, id, at, refusesSeveral }: Extract<ReadSource, { kind: 'file' }>,
  signal: AbortSignal,
): Promise<PackedRead> {
  let requested: Trajectory | undefined
  let count = 0
  const failed: FailedRecord[] = []
  let failedCount = 0
  for await (const one of openFile(
    trajectoryByteSource(file),
    { file: file.name, now, newId: () => id },
    { tools: PAGE_OR_SERVER_TOOLS, ...(refusesSeveral && { onRecords: refuseSeveral }) },
  )) {
    signal.throwIfAborted()
    if (!one.ok) {
      const { message, hint } = one.error
      if (one.scope === 'file') throw new FileError(`${file.name} cannot be opened: ${message}`, hint)
      failedCount++
      if (failed.length < MOST_FAILED_RECORDS) failed.push(one.error)
      continue
    }
    if (count === at) requested = one.trajectory
    count++
  }
  if (!requested) throw new Error(`the file ${file.name} has ${count} trajectories, none at ${at}`)
  return { ...pack(requested), count, failed: { count: failedCount, first: failed } }
}

function refuseSeveral(count: number): void {
  if (count > 1) throw new SeveralRecordsError('the file has several records')
}

async function fromJson(bytes: ArrayBuffer): Promise<PackedRead> {
  const decoded = decodeValue(await new Response(bytes).json())
  if (!decoded.ok)
    throw new ApiError(200, 'BAD_TRAJECTORY', `the trajectory cannot be read: ${violationText(decoded.error)}`)
  return { ...pack(decoded.trajectory), count: 1, failed: { count: 0, first: [] } }
}
