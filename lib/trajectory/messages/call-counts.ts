/** Numbers of tool calls. Statistics of tokens need no messages, so this is a file of its own. */
import { segmentsOf } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { messageCallCount } from './conversation.ts'

/** Numbers of tool calls. Calls without a result are pending, also those that only the messages of a file have. */
interface CallCounts {
  readonly succeeded: number
  readonly failed: number
  readonly malformed: number
  readonly pending: number
}

/** Returns the number of all tool calls. */
export const callTotal = ({ succeeded, failed, malformed, pending }: CallCounts): number =>
  succeeded + failed + malformed + pending

/**
 * Returns the numbers of tool calls; null if the calls of a response are unknown, because its file has no message, and no parser has read its
 * tokens.
 */
export function callCounts(trajectory: TrajectoryView): CallCounts | null {
  const responses = segmentsOf(trajectory).filter((segment) => segment.kind === 'response')
  const calls = responses.flatMap((response) => response.toolCalls)
  const ofMessages = responses.map((response) => messageCallCount(response, trajectory))
  if (!ofMessages.every((count) => count !== undefined)) return null
  return {
    succeeded: calls.filter((call) => call.kind === 'parsed' && call.result?.status === 'success').length,
    failed: calls.filter((call) => call.kind === 'parsed' && call.result && call.result.status !== 'success').length,
    malformed: calls.filter((call) => call.kind === 'malformed').length,
    pending:
      calls.filter((call) => call.kind === 'parsed' && !call.result).length +
      ofMessages.reduce((total, count) => total + count, 0),
  }
}
