/** Time and randomness as dependencies, so that tests control both. */
export interface ClockAndRandom {
  /** Returns the milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number
  /** Waits, or rejects with the signal's reason when it is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The real clock and random numbers. */
export const systemClockAndRandom: ClockAndRandom = { nowMs: () => performance.now(), random: Math.random, wait }

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
