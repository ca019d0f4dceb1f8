import { applyEvent, type LiveTrajectory, mergeTokens, type RolloutEvent } from './events.ts'

/** A trajectory as it grows by events. */
export interface Fold {
  add(event: RolloutEvent): void
  /** What the events so far make; undefined before the first. */
  readonly trajectory: LiveTrajectory | undefined
}

/**
 * For readers who look less often than tokens come: what has piled up is applied in one go, so that n tokens cost n
 * steps and not n².
 */
export function createFold(): Fold {
  let applied: LiveTrajectory | undefined
  let waiting: Extract<RolloutEvent, { type: 'tokens' }>[] = []
  const settle = () => {
    if (waiting.length === 0) return
    const tokens = mergeTokens(waiting)
    waiting = []
    applied = applyEvent(applied, tokens)
  }
  return {
    add(event) {
      if (event.type === 'tokens') {
        waiting.push(event)
        return
      }
      settle()
      applied = applyEvent(applied, event)
    },
    get trajectory() {
      settle()
      return applied
    },
  }
}
