/** Whether the tokens before each response are those that its request has sent: their hash against the recorded one. */
import { inputHash, inputHashes } from '#lib/trajectory/format/input-hash.ts'
import { readOf } from '#lib/trajectory/messages/read-prompt.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { inputIds, recordedCalls } from './recorded-calls.ts'

export interface CheckedInput {
  readonly segmentIndex: number
  /** SHA-256 of the ids that stand before the segment, or over a chat endpoint: of those that the server has read. */
  readonly hash: string
}

/** One for each recorded call. Inputs go on from each other, so each id is read once. Yields the number of segments read. */
export const checkInputs = function* (_request, trajectory) {
  const wanted = new Map(recordedCalls(trajectory).map((call) => [call.segmentIndex, call]))
  const checked: CheckedInput[] = []
  // Before the first segment stands nothing.
  let segmentIndex = 0
  for (const hash of inputHashes([[], ...segmentsOf(trajectory).map(({ ids }) => ids)])) {
    const call = wanted.get(segmentIndex)
    if (call) checked.push({ segmentIndex, hash: readOf(call.segment) ? inputHash(inputIds(trajectory, call)) : hash })
    segmentIndex++
    yield segmentIndex
  }
  return checked
} satisfies InspectTask<null, number, readonly CheckedInput[]>
