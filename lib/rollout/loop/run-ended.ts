import type { Outcome } from '#lib/trajectory/format/trajectory.ts'

/** Leaves the agent's loop, from wherever in it, with the outcome of the run. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  readonly outcome: Exclude<Outcome, { kind: 'running' }>
  constructor(outcome: Exclude<Outcome, { kind: 'running' }>, options?: ErrorOptions) {
    super(`the run ended: ${outcome.kind === 'ended' ? outcome.reason : outcome.code}`, options)
    this.outcome = outcome
  }
}

/** The outcome that an error carries, itself or as the cause of the SDK's own errors. */
export function outcomeIn(error: unknown): RunEnded['outcome'] | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++)
    if (cause instanceof RunEnded) return cause.outcome
  return undefined
}
