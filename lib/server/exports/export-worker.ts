/** Runs in a thread that exports long records. */

import { openTrajectoryReader } from '#lib/store/record.ts'
import { damagedRecord } from '#lib/store/store-error.ts'
import { answerRequests } from '../limited-thread.ts'
import { computePart, type ExportPart } from './export-parts.ts'
import type { ExportWorkerStart } from './exporting.ts'

answerRequests<ExportWorkerStart, ExportPart, unknown>(({ dataFolder }) => {
  const reader = openTrajectoryReader(dataFolder)
  return (part, { transfer }) => {
    const found = reader.read(part.key)?.found
    if (typeof found !== 'object') throw damagedRecord(part.key, found ?? 'it was deleted')
    const result = computePart(part, found)
    const bytes = 'content' in result ? result.content : result
    // A small text shares its buffer with others, so it is copied.
    if (bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength)
      transfer.push(bytes.buffer)
    return result
  }
})
