/** Tells a file of many records from a file of one, without parsing it. */

import { LIMITS } from '#lib/util/limits.ts'
import type { ByteSource } from '../containers/container.ts'
import { createRecordFinder } from './record-finder.ts'

/** Bytes that are searched for the second record. A file whose first record is longer counts as a file of one. */
const SEARCHED = 32 * 2 ** 20
const SLICE = 2 ** 20

/** Returns whether the bytes may have more than one record: a second one begins, or the first is spread over several lines. */
export async function mayHaveSeveralRecords(bytes: ByteSource): Promise<boolean> {
  let records = 0
  const finder = createRecordFinder(LIMITS, undefined, () => {
    records++
  })
  const searched = Math.min(SEARCHED, bytes.size)
  for (let at = 0; at < searched && records < 2; at += SLICE)
    finder.push(await bytes.read(at, Math.min(at + SLICE, searched)))
  // Ends the last record, which may be the second one.
  const end = finder.end()
  return records >= 2 || ('isSpread' in end && end.isSpread)
}
