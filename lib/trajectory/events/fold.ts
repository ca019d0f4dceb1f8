import type { Vocab } from '../format/trajectory.ts'
import { applyEvent, type LiveTrajectory, mergeTokens, type RolloutEvent } from './events.ts'

/** A trajectory as it grows by events. */
export interface Fold {
  add(event: RolloutEvent): void
  /**
   * What the events so far make; undefined before the first. One that was given stays what it was, but for its vocabulary,
   * which is one record that grows.
   */
  readonly trajectory: LiveTrajectory | undefined
}

/**
 * For readers who look less often than tokens come: what has piled up is applied in one go, so that n tokens cost n
 * steps and not n². `texts`: those of all ids that events will bring, where they are at hand; the trajectory then has these as
 * its vocabulary.
 */
export function createFold(texts?: Vocab): Fold {
  let applied: LiveTrajectory | undefined
  let vocab: Record<string, Vocab[string]> = {}
  // Where the texts are at hand, those of an event are not even made.
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
