/**
 * Blocks calls to a server after several failed calls in a row: for a while none is sent, then one call probes it. A
 * call and its retries count as one failure, so a prompt that fails does not block other prompts. Each server has one
 * breaker, shared by all runs on it. Busy servers (429, 503) are not blocked, because they answer.
 */
import type { ClockAndRandom } from './clock-and-random.ts'
import { EngineError, type EngineErrorCode, UNREACHED } from './errors.ts'

/** Blocks and probes the calls to one server. */
export interface Breaker {
  /**
   * Must be called before each call. Throws EngineError CIRCUIT_OPEN, which reports when the next probe is and what
   * failed.
   */
  enter(): Attempt
  /** Reports that the server answered a status call, so that it can be reached. */
  reached(): void
}

/** A call together with its retries. */
export interface Attempt {
  /** Must be called before each retry. Throws like `enter`, because other calls may have failed meanwhile. */
  again(): void
  /**
   * Reports a result. It may be called more than once, because a reply may begin well and break off. `left` means that the
   * caller did not wait for the end.
   */
  observe(what: 'answered' | 'left' | EngineError): void
}

/** Number of failed calls in a row that opens the breaker. */
export const FAILURES_IN_A_ROW = 5
/** Milliseconds without calls before the next probe. */
export const OPEN_MS = 30_000

type State =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly untilMs: number; readonly because: EngineError }
  | { readonly kind: 'probing'; readonly attempt: Attempt; readonly because: EngineError }

/** Creates a closed breaker. */
export function createBreaker({ nowMs }: Pick<ClockAndRandom, 'nowMs'>): Breaker {
  let state: State = { kind: 'closed', failures: 0 }
  const observe = (attempt: Attempt, what: Parameters<Attempt['observe']>[0]): void => {
    // While the breaker is open only the probe decides; calls sent earlier bring no new information.
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

function notSent(because: EngineError, waitMs: number | undefined): EngineError {
  const next =
    waitMs === undefined
      ? 'one call is testing the server now'
      : `the next call is possible in ${Math.ceil(waitMs / 1000)} s`
  return new EngineError(
    'CIRCUIT_OPEN',
    `not sent because the last ${FAILURES_IN_A_ROW} calls to this server failed (${because.code}: ${because.message}); ${next}`,
    { cause: because, ...(waitMs !== undefined && { retryAfterMs: waitMs }) },
  )
}

/** Failures that show that the server itself is unwell; any other failure is an answer of the server. */
const FAULTS: ReadonlySet<EngineErrorCode> = new Set([
  ...UNREACHED,
  'CONNECTION_RESET',
  'HEADERS_TIMEOUT',
  'BODY_TIMEOUT',
  'TOKEN_TIMEOUT',
  'BAD_HTTP',
  'UPSTREAM_ERROR',
  'UPSTREAM_TRUNCATED',
])
