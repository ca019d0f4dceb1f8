/** A tool that an agent may call: what the template prints of it, and what it does. */
import type { ToolSpec } from '#lib/core/trajectory.ts'

export interface AgentTool {
  readonly spec: ToolSpec
  /**
   * The text that the model reads. A thrown error becomes an error result with its message. Input that does not fit the
   * schema never comes here.
   */
  run(input: Readonly<Record<string, unknown>>, call: CallContext): string | Promise<string>
}

interface CallContext {
  /** Aborted when the run is stopped or the call has taken too long: nobody waits for it any more. */
  readonly signal: AbortSignal
  /** Which call of this tool in the trajectory it is, from 1, in the order of the text. */
  readonly number: number
}
