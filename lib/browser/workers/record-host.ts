/**
 * The worker's side of reading a file record by record: a record is read when the page requests it, and packed for the transfer. A file of
 * JSON lines is never in memory beyond one line.
 */

import { openEachIn } from '#lib/formats/reading/open-each.ts'
import type { FileProblem } from '#lib/formats/reading/records.ts'
import type { Answer } from '#lib/tasks/worker-protocol.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fileByteSource, PAGE_TOOLS } from '../files/file-bytes.ts'

/** A record of a file, or why it cannot be read. */
export type FileRecord = {
  /** Line of the record, counted from 1; undefined if the file is one value. */
  readonly line: number | undefined
  /** Bytes of the file that have been read so far. */
  readonly bytes: number
} & ({ readonly ok: true; readonly trajectory: TrajectoryView } | ({ readonly ok: false } & FileProblem))

/** Requests the next record of a file. The first request contains the file, later ones continue with it. */
export interface RecordRequest {
  readonly file?: File
}

/** Returns the function that answers with the next record, whose buffers are transferred; undefined after the last one. */
export function createRecordHost(): Answer<RecordRequest, FileRecord | undefined> {
  let records: ReturnType<typeof recordsOf> | undefined
  return async ({ file }, { transfer }) => {
    if (file) records = recordsOf(file)
    const next = await records?.next()
    if (!next || next.done) return undefined
    transfer.push(...next.value.buffers)
    return next.value.record
  }
}

async function* recordsOf(file: File) {
  let bytes = 0
  let number = 0
  // The same file gives the same records, so an equal trajectory is not stored twice.
  const now = new Date(file.lastModified).toISOString()
  const source = { file: file.name, now, newId: () => `record-${number + 1}` }
  const onBytes = (count: number) => {
    bytes = count
  }
  for await (const one of openEachIn(fileByteSource(file), source, { tools: PAGE_TOOLS, onBytes })) {
    number++
    const { line } = one.place
    if (one.ok) {
      const { trajectory, buffers } = pack(one.trajectory)
      yield { record: { ok: true, line, bytes, trajectory } satisfies FileRecord, buffers }
    } else yield { record: { ...one.error, ok: false, line, bytes } satisfies FileRecord, buffers: [] }
  }
}
