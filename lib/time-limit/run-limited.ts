/** Scripts that may take for ever, such as a stranger's pattern, in the thread that serves everybody. */
import type { Context, Script } from 'node:vm'

/** The result of a script. Throws what it throws, and a timeout (`isTimeout`) where it takes more than the milliseconds. */
export function runLimited(script: Script, context: Context, milliseconds: number): unknown {
  const begun = process.threadCpuUsage()
  for (;;) {
    try {
      return script.runInContext(context, { timeout: milliseconds })
    } catch (error) {
      if (!isTimeout(error)) throw error
      // The clock is the wall's, and on a busy machine the time can have gone to others: no result may depend on that.
      const { user, system } = process.threadCpuUsage(begun)
      if (user + system > (1000 * milliseconds) / 2) throw error
    }
  }
}

/** It comes from the context, whose Error is not this one's. */
export const isTimeout = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
