/** Checks that the tokens before each response are those that its request sent: their hash must equal the recorded one. */
import { inputHash, inputHashes } from '#lib/trajectory/format/input-hash.ts'
import { readOf } from '#lib/trajectory/messages/read-prompt.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { inputIds, recordedCalls } from './recorded-calls.ts'

/** Hash of the input of one recorded call. */
export interface CheckedInput {
  readonly segmentIndex: number
  /** SHA-256 of the ids before the segment. For a chat endpoint, SHA-256 of the ids that the server reports to have read. */
  readonly hash: string
}

/** Task that hashes the input of each recorded call. Each input extends the one before, so each id is read once. Yields segments read. */
export const checkInputs = function* (_request, trajectory) {
  const wanted = new Map(recordedCalls(trajectory).map((call) => [call.segmentIndex, call]))
  const checked: CheckedInput[] = []
  // The first hash is that of the empty input before the first segment.
  let segmentIndex = 0
  for (const hash of inputHashes([[], ...segmentsOf(trajectory).map(({ ids }) => ids)])) {
    const call = wanted.get(segmentIndex)
    if (call) checked.push({ segmentIndex, hash: readOf(call.segment) ? inputHash(inputIds(trajectory, call)) : hash })
    segmentIndex++
    yield segmentIndex
  }
  return checked
} satisfies InspectTask<null, number, readonly CheckedInput[]>
