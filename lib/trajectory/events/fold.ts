import type { Vocab } from '../format/trajectory.ts'
import { applyEvent, type LiveTrajectory, mergeTokens, type RolloutEvent } from './events.ts'

/** A trajectory that grows by events. */
export interface Fold {
  add(event: RolloutEvent): void
  /**
   * The trajectory after all events so far; undefined before the first. A returned trajectory does not change, except
   * for its vocabulary, which is one object that grows.
   */
  readonly trajectory: LiveTrajectory | undefined
}

/**
 * Creates a fold for readers that look less often than tokens arrive. Pending events are applied together, so n tokens
 * cost n steps instead of n². `texts` are the texts of all ids that events will bring, if known; they become the
 * vocabulary.
 */
export function createFold(texts?: Vocab): Fold {
  let applied: LiveTrajectory | undefined
  let vocab: Record<string, Vocab[string]> = {}
  // If all texts are known, those of events are ignored.
  const learn = texts ? () => {} : (event: { readonly vocab: Vocab }) => Object.assign(vocab, event.vocab)
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
        const { type, ids, logprobs, topLogprobs, specialIds } = event
        learn(event)
        waiting.push({
          type,
          ids,
          ...(logprobs && { logprobs }),
          ...(topLogprobs && { topLogprobs }),
          vocab: {},
          specialIds,
        })
        return
      }
      settle()
      if (event.type === 'started') {
        vocab = { ...event.trajectory.vocab }
        applied = applyEvent(undefined, { ...event, trajectory: { ...event.trajectory, vocab: texts ?? vocab } })
      } else if (event.type === 'segment' || event.type === 'segment-started') {
        const { type, segment, specialIds } = event
        learn(event)
        applied = applyEvent(applied, { type, segment, vocab: {}, specialIds } as typeof event)
      } else applied = applyEvent(applied, event)
    },
    get trajectory() {
      settle()
      return applied
    },
  }
}
