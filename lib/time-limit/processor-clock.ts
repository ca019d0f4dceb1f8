/** A clock for time limits in the server, whose threads share processors with other processes. */

/**
 * Returns a clock of the processor time of this thread from now on, in milliseconds. It returns 0 until the wall-clock time exceeds
 * `limit`: processor time costs a system call, and on a busy machine the wall-clock time includes other processes.
 */
export function processorClock(limit: number): () => number {
  const began = performance.now()
  const before = process.threadCpuUsage()
  return () => {
    if (performance.now() - began <= limit) return 0
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
