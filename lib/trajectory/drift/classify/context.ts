/** The system prompt and the tools: what every call of a run is told first. */
import type { DriftPosition, DriftVerdict } from './place.ts'

export function context({ left, right }: DriftPosition): DriftVerdict | undefined {
  if (![left, right].some(({ side, span }) => span.start < side.contextEnd())) return undefined
  const [ours, theirs] = [left, right].map(({ side }) => JSON.stringify(side.trajectory.model.tools))
  return {
    kind: 'context-changed',
    cause:
      ours === theirs
        ? 'The system prompt or the tools stand there otherwise: another text, another form of the tool list, or a default that a template writes.'
        : 'The two sides have other tools.',
  }
}
