/**
 * Which failed tries of a call are repeated, and after how long. One for each server, shared by all runs on it: the
 * budget keeps many runs together from burying a server that is in trouble.
 */
import type { ClockAndRandom } from './clock-and-random.ts'
import { SglangError, type SglangErrorCode } from './errors.ts'

export interface Retries {
  /** A call begins; it adds its share to the budget. */
  begin(): void
  /** Milliseconds to wait before the nth repetition, n from 1. Undefined: not repeated. Otherwise the budget has paid. */
  delayMs(error: unknown, repetition: number): number | undefined
}

export interface RetryPolicy {
  /** Tries after the first one, at most. */
  readonly repetitions: number
  /** Before the first repetition; doubled for each further one, spread by a quarter either way. */
  readonly firstMs: number
  /** Repetitions of all calls together: `most` at once, filled up again by each call and with time. */
  readonly budget: { readonly most: number; readonly perCall: number; readonly perSecond: number }
}

/** A fifth of the calls in the long run, and one in ten seconds for somebody who makes few. */
export const RETRY_POLICY: RetryPolicy = {
  repetitions: 3,
  firstMs: 500,
  budget: { most: 10, perCall: 0.2, perSecond: 0.1 },
}

/** Also of what a server asks for by Retry-After. */
export const LONGEST_WAIT_MS = 30_000

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

/** No byte of a reply has come, and the cause may pass. */
const PASSING: ReadonlySet<SglangErrorCode> = new Set([
  'CONNECT_REFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_RESET',
  'UPSTREAM_BUSY',
  'UPSTREAM_ERROR',
])

const mayHelp = (error: unknown): error is SglangError => error instanceof SglangError && PASSING.has(error.code)
