import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns why no branch can begin at a token, as a sentence, or undefined if one can. */
export function branchObstacle({ outcome, provenance }: TrajectoryView, { segment }: Token): string | undefined {
  if (outcome.kind === 'running') return 'A branch can begin when the run has ended.'
  if (provenance.kind === 'rollout' && provenance.endpoint === 'chat')
    return 'This run used a chat endpoint, which cannot continue from tokens.'
  if (segment.kind === 'prompt' && segment.messages.length === 0)
    return 'This prompt has no messages to edit. Select a sampled token to branch.'
  return undefined
}
