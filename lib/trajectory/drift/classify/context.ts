/** The system prompt and the tools: the beginning of every prompt of a run. */
import type { DriftPosition, DriftVerdict } from './place.ts'

/** Recognises a drift in the system prompt or the tool list. */
export function context({ left, right }: DriftPosition): DriftVerdict | undefined {
  if (![left, right].some(({ side, span }) => span.start < side.contextEnd())) return undefined
  const [ours, theirs] = [left, right].map(({ side }) => JSON.stringify(side.trajectory.model.tools))
  return {
    kind: 'context-changed',
    cause:
      ours === theirs
        ? 'The system prompt or the tools differ: different text, a different form of the tool list, or a default that a template writes.'
        : 'The two sides have different tools.',
  }
}
