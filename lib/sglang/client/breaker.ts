/**
 * Keeps calls from a server that has failed several calls in a row: for a while none is sent, then one tries. A call
 * with its repetitions is one: what one prompt breaks is not kept from the others. One for each server, shared by all
 * runs on it. Busy servers (429, 503) are not kept from: they answer.
 */
import type { ClockAndRandom } from './clock-and-random.ts'
import { SglangError, type SglangErrorCode, UNREACHED } from './errors.ts'

export interface Breaker {
  /** Before each call. Throws SglangError CIRCUIT_OPEN, which says when the next try is and what has failed. */
  enter(): Attempt
  /** The server has answered a call that needs no permission, one for information: it can be reached. */
  reached(): void
}

/** A call, with its repetitions. */
export interface Attempt {
  /** Before each repetition. Throws like `enter`: other calls may have failed meanwhile. */
  again(): void
  /** May be told more than one thing: a reply begins well and breaks off. `left`: nobody waited for the end. */
  observe(what: 'answered' | 'left' | SglangError): void
}

export const FAILURES_IN_A_ROW = 5
export const OPEN_MS = 30_000

type State =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly untilMs: number; readonly because: SglangError }
  | { readonly kind: 'probing'; readonly attempt: Attempt; readonly because: SglangError }

export function createBreaker({ nowMs }: Pick<ClockAndRandom, 'nowMs'>): Breaker {
  let state: State = { kind: 'closed', failures: 0 }
  const observe = (attempt: Attempt, what: Parameters<Attempt['observe']>[0]): void => {
    // Only the probe decides for a server that is kept from; calls from before say nothing new.
    if (state.kind === 'open' || (state.kind === 'probing' && state.attempt !== attempt)) return
    if (what === 'left') {
      if (state.kind === 'probing') state = { kind: 'open', untilMs: nowMs(), because: state.because }
    } else if (what === 'answered' || !FAULTS.has(what.code)) {
      state = { kind: 'closed', failures: 0 }
    } else {
      const failures = state.kind === 'closed' ? state.failures + 1 : FAILURES_IN_A_ROW
      state =
        failures < FAILURES_IN_A_ROW
          ? { kind: 'closed', failures }
          : { kind: 'open', untilMs: nowMs() + OPEN_MS, because: what }
    }
  }
  const admit = (attempt: Attempt): void => {
    if (state.kind === 'probing' && state.attempt !== attempt) throw notSent(state.because, undefined)
    if (state.kind !== 'open') return
    const waitMs = state.untilMs - nowMs()
    if (waitMs > 0) throw notSent(state.because, waitMs)
    state = { kind: 'probing', attempt, because: state.because }
  }
  return {
    enter() {
      const attempt: Attempt = { again: () => admit(attempt), observe: (what) => observe(attempt, what) }
      admit(attempt)
      return attempt
    },
    reached() {
      if (state.kind !== 'closed' && UNREACHED.has(state.because.code)) state = { kind: 'closed', failures: 0 }
    },
  }
}

function notSent(because: SglangError, waitMs: number | undefined): SglangError {
  const next = waitMs === undefined ? 'one call is trying it now' : `the next try is in ${Math.ceil(waitMs / 1000)} s`
  return new SglangError(
    'CIRCUIT_OPEN',
    `not sent, since the last ${FAILURES_IN_A_ROW} calls to this server failed (${because.code}: ${because.message}); ${next}`,
    { cause: because, ...(waitMs !== undefined && { retryAfterMs: waitMs }) },
  )
}

/** What says that the server itself is unwell; anything else is an answer of it. */
const FAULTS: ReadonlySet<SglangErrorCode> = new Set([
  ...UNREACHED,
  'CONNECTION_RESET',
  'HEADERS_TIMEOUT',
  'BODY_TIMEOUT',
  'TOKEN_TIMEOUT',
  'BAD_HTTP',
  'UPSTREAM_ERROR',
  'UPSTREAM_TRUNCATED',
])
