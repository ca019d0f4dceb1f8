/** The tool calls of a trajectory by their ids, numbered from 1 over the whole of it. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ToolCall } from '../format/trajectory.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

interface NumberedCall {
  readonly call: ToolCall
  /** From 1. */
  readonly number: number
}

export const callsById = memoizeByIdentity((segments: readonly SegmentView[]): ReadonlyMap<string, NumberedCall> => {
  const calls = segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  return new Map(calls.map((call, index) => [call.id, { call, number: index + 1 }]))
})
