/** A tool that an agent may call: what the template prints of it, and what it does. */
import type { ToolSpec } from '#lib/core/trajectory.ts'

export interface AgentTool {
  readonly spec: ToolSpec
  /** The text that the model reads. A thrown error becomes an error result with its message. */
  run(input: Readonly<Record<string, unknown>>, signal: AbortSignal): string | Promise<string>
}
