import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Returns why no tokens of a trajectory can be continued, as a sentence, or undefined if they can. `action` says what could be done, such
 * as "A branch can begin".
 */
export function continuationObstacle({ outcome, provenance }: TrajectoryView, action: string): string | undefined {
  if (outcome.kind === 'running') return `${action} when the run has ended.`
  if (provenance.kind === 'rollout' && provenance.endpoint === 'chat')
    return 'This run used a chat endpoint, which cannot continue from tokens.'
  return undefined
}

/** Returns why no branch can begin at a token, as a sentence, or undefined if one can. */
export function branchObstacle(trajectory: TrajectoryView, { segment }: Token): string | undefined {
  const obstacle = continuationObstacle(trajectory, 'A branch can begin')
  if (obstacle !== undefined) return obstacle
  if (segment.kind === 'prompt' && segment.messages.length === 0)
    return 'This prompt has no messages to edit. Select a sampled token to branch.'
  return undefined
}
