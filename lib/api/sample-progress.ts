/** Counts what the page shows of running samples. The cost of an event does not depend on the length of the sample. */

import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectorySummary } from './library.ts'

/** State and counters of a sample. */
export interface SampleProgress {
  readonly state: 'waiting' | 'reading' | 'writing' | 'calling' | 'ended'
  /** `running`, a reason such as end_turn, or the code of a failure. */
  readonly outcome: string
  readonly outcomeKind: Outcome['kind']
  readonly tokens: number
  /** Number of trained tokens with a known logprob, and the sum of these logprobs in nats. */
  readonly scored: number
  readonly logprobSum: number
  /** Number of responses. */
  readonly turns: number
  /** Tokens of the open segment. They are subtracted if it is retracted. */
  readonly open: number
}

/** One sample of a group as the page shows it. */
export interface SampleRow {
  /** Index of the sample, from 0. */
  readonly index: number
  readonly key: string
  /** Name of its server, if the group ran on several servers side by side. */
  readonly server: string | undefined
  /** Id of its run; undefined if it is not running. */
  readonly rolloutId: string | undefined
  readonly progress: SampleProgress
  readonly reward: number | null
  readonly rewardWhy: string | null
}

/** Progress of a sample without events. */
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

/** Returns the mean logprob of trained tokens in nats; null if none is known. */
export const meanLogprob = ({ scored, logprobSum }: SampleProgress): number | null =>
  scored === 0 ? null : logprobSum / scored

/** Returns the progress after an event. Start from WAITING at the first event of a run, or tokens before it are not counted. */
export function applyToProgress(progress: SampleProgress, event: RolloutEvent): SampleProgress {
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

/** Returns the progress of a stored sample. */
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

/** Returns an outcome in one word: `running`, the stop reason, or the code of a failure. */
export function outcomeWord(outcome: Outcome): string {
  if (outcome.kind === 'ended') return outcome.reason
  return outcome.kind === 'failed' ? outcome.code : 'running'
}
