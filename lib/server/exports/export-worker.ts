/** Runs in the thread that exports long records. */

import { openTrajectoryReader } from '#lib/store/record.ts'
import { damagedRecord } from '#lib/store/store-error.ts'
import { answerRequests } from '../limited-thread.ts'
import { computePart, type ExportPart } from './export-parts.ts'
import type { ExportWorkerStart } from './exporting.ts'

answerRequests<ExportWorkerStart, ExportPart, unknown>(({ dataFolder }) => {
  const reader = openTrajectoryReader(dataFolder)
  return (part) => {
    const found = reader.read(part.key)?.found
    if (typeof found !== 'object') throw damagedRecord(part.key, found ?? 'it was deleted')
    return computePart(part, found)
  }
})
