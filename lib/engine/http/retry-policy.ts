/**
 * Decides which failed calls are retried, and after how long. Each server has one policy, shared by all runs on it: the
 * budget keeps many runs from overloading a server that is in trouble.
 */
import type { ClockAndRandom } from './clock-and-random.ts'
import { EngineError, type EngineErrorCode } from './errors.ts'

/** The retries of one server. */
export interface Retries {
  /** Reports that a call begins, which adds its share to the budget. */
  begin(): void
  /**
   * Returns the milliseconds to wait before the nth retry, n from 1, and takes it from the budget. Undefined: no retry.
   */
  delayMs(error: unknown, repetition: number): number | undefined
}

/** How often and when calls are retried. */
export interface RetryPolicy {
  /** The largest number of retries of one call. */
  readonly repetitions: number
  /** Milliseconds before the first retry; they double for each further one, with a spread of a quarter either way. */
  readonly firstMs: number
  /** The retries of all calls together: `most` at once, refilled by each call and with time. */
  readonly budget: { readonly most: number; readonly perCall: number; readonly perSecond: number }
}

/** Allows retries for a fifth of the calls in the long run, and one every ten seconds for a user who makes few. */
export const RETRY_POLICY: RetryPolicy = {
  repetitions: 3,
  firstMs: 500,
  budget: { most: 10, perCall: 0.2, perSecond: 0.1 },
}

/** The longest wait in milliseconds, which also limits Retry-After. */
export const LONGEST_WAIT_MS = 30_000

/** Creates the retries of one server with a full budget. */
export function createRetries(
  policy: RetryPolicy,
  { nowMs, random }: Pick<ClockAndRandom, 'nowMs' | 'random'>,
): Retries {
  const { most, perCall, perSecond } = policy.budget
  let left = most
  let filledAt = nowMs()
  const fill = (more: number) => {
    const now = nowMs()
    left = Math.min(most, left + more + ((now - filledAt) / 1000) * perSecond)
    filledAt = now
  }
  return {
    begin: () => fill(perCall),
    delayMs(error, repetition) {
      fill(0)
      if (repetition > policy.repetitions || !mayHelp(error) || left < 1) return undefined
      left -= 1
      const ms =
        error.retryAfterMs === undefined
          ? policy.firstMs * 2 ** (repetition - 1) * (0.75 + random() / 2)
          : error.retryAfterMs * (1 + random() / 4)
      return Math.min(LONGEST_WAIT_MS, ms)
    },
  }
}

/** Failures that are transient and leave no byte of a reply. */
const PASSING: ReadonlySet<EngineErrorCode> = new Set([
  'CONNECT_REFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_RESET',
  'TOO_MANY_FILES',
  'UPSTREAM_BUSY',
  'UPSTREAM_ERROR',
])

const mayHelp = (error: unknown): error is EngineError => error instanceof EngineError && PASSING.has(error.code)
