/** The tool calls of a trajectory by their ids, numbered from 1 through the whole trajectory. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ToolCall } from '../format/trajectory.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

interface NumberedCall {
  readonly call: ToolCall
  /** The number of the call, from 1. */
  readonly number: number
}

/** Returns the tool calls by id. */
export const callsById = memoizeByIdentity((segments: readonly SegmentView[]): ReadonlyMap<string, NumberedCall> => {
  const calls = segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  return new Map(calls.map((call, index) => [call.id, { call, number: index + 1 }]))
})
