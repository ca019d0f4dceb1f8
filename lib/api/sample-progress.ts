/** What a strip of samples tells of each: counters that an event changes at a price that does not grow with the sample. */

import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectorySummary } from './library.ts'

export interface SampleProgress {
  readonly state: 'waiting' | 'reading' | 'writing' | 'calling' | 'ended'
  /** `running`, a reason such as end_turn, or the code of a failure. */
  readonly outcome: string
  readonly outcomeKind: Outcome['kind']
  readonly tokens: number
  /** Of trained tokens whose logprob is known: how many, and their sum in nats. */
  readonly scored: number
  readonly logprobSum: number
  /** Responses. */
  readonly turns: number
  /** Tokens of the segment that is open: none of it has happened if it is retracted. */
  readonly open: number
}

/** One sample as the strip tells of it. */
export interface SampleRow {
  /** From 0. */
  readonly index: number
  readonly key: string
  /** Undefined where it does not run. */
  readonly rolloutId: string | undefined
  readonly progress: SampleProgress
  readonly reward: number | null
  readonly rewardWhy: string | null
}

export const WAITING: SampleProgress = {
  state: 'waiting',
  outcome: 'running',
  outcomeKind: 'running',
  tokens: 0,
  scored: 0,
  logprobSum: 0,
  turns: 0,
  open: 0,
}

export const meanLogprob = ({ scored, logprobSum }: SampleProgress): number | null =>
  scored === 0 ? null : logprobSum / scored

/** Of a sample that has not run before: what there was at its beginning is counted by nobody. */
export function progressed(progress: SampleProgress, event: RolloutEvent): SampleProgress {
  switch (event.type) {
    case 'segment-started': {
      const { segment } = event
      const { length } = segment.ids
      const added = { ...progress, tokens: progress.tokens + length, open: length }
      return segment.kind === 'prompt'
        ? { ...added, state: 'reading' }
        : { ...added, state: 'writing', turns: progress.turns + 1 }
    }
    case 'tokens': {
      const { length } = event.ids
      const known = (event.logprobs ?? []).filter((logprob) => logprob !== null)
      return {
        ...progress,
        tokens: progress.tokens + length,
        open: progress.open + length,
        scored: progress.scored + known.length,
        logprobSum: known.reduce((sum, logprob) => sum + logprob, progress.logprobSum),
      }
    }
    case 'retracted':
      return { ...progress, state: 'waiting', tokens: progress.tokens - progress.open, open: 0 }
    case 'segment':
      return { ...progress, open: 0 }
    case 'tool-started':
      return { ...progress, state: 'calling' }
    case 'ended':
      return { ...progress, state: 'ended', outcomeKind: event.outcome.kind, outcome: outcomeWord(event.outcome) }
    default:
      return progress
  }
}

/** The same of a stored one. */
export function progressOf(row: TrajectorySummary): SampleProgress {
  const { tokens, turns, trained, meanLogprob: mean, outcome, outcomeKind } = row
  const scored = mean === null ? 0 : trained
  return {
    state: outcomeKind === 'running' ? 'waiting' : 'ended',
    outcome,
    outcomeKind,
    tokens,
    scored,
    logprobSum: (mean ?? 0) * scored,
    turns,
    open: 0,
  }
}

/** In one word: `running`, the reason of an end, the code of a failure. */
export function outcomeWord(outcome: Outcome): string {
  if (outcome.kind === 'ended') return outcome.reason
  return outcome.kind === 'failed' ? outcome.code : 'running'
}
