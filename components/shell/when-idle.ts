/** Longest slice of work between two frames, in milliseconds. */
const SLICE_MS = 8

/**
 * Calls `run` between two frames, after at most `longestWait` milliseconds, with the time of the page until which it may take. Returns a
 * function that cancels the call.
 */
export function whenIdle(longestWait: number, run: (until: number) => void): () => void {
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(() => run(performance.now() + SLICE_MS))
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(
    (deadline) => run(performance.now() + Math.min(SLICE_MS, Math.max(1, deadline.timeRemaining()))),
    { timeout: longestWait },
  )
  return () => cancelIdleCallback(handle)
}
