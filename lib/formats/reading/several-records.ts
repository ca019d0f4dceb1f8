/** Distinguishes a file of many records from a file of one, without parsing it. */

import { LIMITS } from '#lib/util/limits.ts'
import type { ByteSource } from '../containers/container.ts'
import { createRecordFinder } from './record-finder.ts'

/** Bytes that are searched for the second record. A file whose first record is longer counts as a file of one. */
const SEARCHED = 32 * 2 ** 20
const SLICE = 2 ** 20
/** The first bytes of a Parquet file. */
const PARQUET = 'PAR1'

/**
 * Returns whether the bytes may have more than one record: a second one begins, the first is spread over several lines, or the file is
 * a table.
 */
export async function mayHaveSeveralRecords(bytes: ByteSource): Promise<boolean> {
  let records = 0
  const finder = createRecordFinder(LIMITS, undefined, () => {
    records++
  })
  const searched = Math.min(SEARCHED, bytes.size)
  for (let at = 0; at < searched && records < 2; at += SLICE) {
    const piece = await bytes.read(at, Math.min(at + SLICE, searched))
    if (at === 0 && new TextDecoder().decode(piece.subarray(0, PARQUET.length)) === PARQUET) return true
    finder.push(piece)
  }
  // Ends the last record, which may be the second one.
  const end = finder.end()
  return records >= 2 || ('isSpread' in end && end.isSpread)
}
