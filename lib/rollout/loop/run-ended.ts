import type { Outcome } from '#lib/trajectory/format/trajectory.ts'

/** Carries the outcome of the run out of the agent's loop. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  readonly outcome: Exclude<Outcome, { kind: 'running' }>
  constructor(outcome: Exclude<Outcome, { kind: 'running' }>, options?: ErrorOptions) {
    super(`the run ended: ${outcome.kind === 'ended' ? outcome.reason : outcome.code}`, options)
    this.outcome = outcome
  }
}

/** Returns the outcome that an error carries, itself or as the cause of an SDK error. */
export function outcomeIn(error: unknown): RunEnded['outcome'] | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++)
    if (cause instanceof RunEnded) return cause.outcome
  return undefined
}
