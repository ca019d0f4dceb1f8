/** Runs scripts that may never finish, such as an untrusted pattern, in the server's thread. */
import type { Context, Script } from 'node:vm'

/** Returns the result of a script. Throws its errors, and a timeout (`isTimeout`) if it takes longer than the limit. */
export function runLimited(script: Script, context: Context, milliseconds: number): unknown {
  const begun = process.threadCpuUsage()
  for (;;) {
    try {
      return script.runInContext(context, { timeout: milliseconds })
    } catch (error) {
      if (!isTimeout(error)) throw error
      // The limit is wall-clock time, which other processes may have used on a busy machine; results must not depend on
      // that.
      const { user, system } = process.threadCpuUsage(begun)
      if (user + system > (1000 * milliseconds) / 2) throw error
    }
  }
}

/** Returns true for a timeout of a script. Its Error class is that of the context, so it is recognized by its code. */
export const isTimeout = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
