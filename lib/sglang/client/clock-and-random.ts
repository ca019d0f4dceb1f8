/** Time and chance as dependencies: tests decide both. */
export interface ClockAndRandom {
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** From 0 up to, not including, 1. */
  readonly random: () => number
  /** Rejects with the signal's reason when it is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export const realChance: ClockAndRandom = { nowMs: () => performance.now(), random: Math.random, wait }

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
