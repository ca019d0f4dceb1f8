/** A tool that an agent may call: its specification for the template, and its action. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** A tool with its action. */
export interface AgentTool {
  readonly spec: ToolSpec
  /**
   * Returns the text that the model reads. A thrown error becomes an error result with its message. The input always matches
   * the schema.
   */
  run(input: Readonly<Record<string, unknown>>, call: ToolCallContext): string | Promise<string>
  /** Releases what its calls have started. Called once after the end of the run; aborted calls may still be running. */
  close?(): void | Promise<void>
}

/** Thrown for an error result that is this text alone, without "Error: " before it. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

/** The context of one call. */
export interface ToolCallContext {
  /** Aborted when the run is stopped or the call has taken too long. Then its result is ignored. */
  readonly signal: AbortSignal
  /** Number of the call among the calls of this tool in the trajectory, from 1, in the order of the text. */
  readonly number: number
  /** Sets a function that returns the output of the call so far. If the call is aborted, that output precedes the error. */
  hold(soFar: () => string): void
  /** Waits for something that precedes the work, such as a start. This time does not count towards the timeout. */
  untimed<T>(waiting: Promise<T>): Promise<T>
}
