/** A tool that an agent may call: what the template prints of it, and what it does. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

export interface AgentTool {
  readonly spec: ToolSpec
  /**
   * The text that the model reads. A thrown error becomes an error result with its message. Input that does not fit the
   * schema never comes here.
   */
  run(input: Readonly<Record<string, unknown>>, call: CallContext): string | Promise<string>
  /** Lets go of what its calls have started. Called once, when the run has ended; calls that were given up may still hang. */
  close?(): void | Promise<void>
}

/** Thrown for an error result that is this text alone, without "Error: " before it. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

export interface CallContext {
  /** Aborted when the run is stopped or the call has taken too long: nobody waits for it any more. */
  readonly signal: AbortSignal
  /** Which call of this tool in the trajectory it is, from 1, in the order of the text. */
  readonly number: number
  /** What a call that is given up leaves: asked then, it stands before the error in the result. */
  hold(soFar: () => string): void
  /** Waits for what comes before the work: a turn, a start. It does not count into the time that the call may take. */
  untimed<T>(waiting: Promise<T>): Promise<T>
}
