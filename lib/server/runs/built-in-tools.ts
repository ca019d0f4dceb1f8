/** The tools that come with the application. */
import path from 'node:path'
import { createPython } from '#lib/rollout/python/python.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

export interface BuiltInTool {
  readonly spec: ToolSpec
  /** For one run. Nothing is started before its first call. */
  open(): AgentTool
  /** Why it cannot be used on this machine, as far as is known; undefined where nothing speaks against it. */
  off(): string | undefined
  /** The same, after it has been tried: before the first run that has it. */
  check(): Promise<string | undefined>
  close(): void
}

export const createBuiltInTools = (applicationFolder: string, dataFolder: string): readonly BuiltInTool[] => [
  plainTool(calculator),
  createPython({ applicationFolder, folder: path.join(dataFolder, 'python') }),
]

/** One that holds nothing, and needs nothing of the machine. */
export const plainTool = (tool: AgentTool): BuiltInTool => ({
  spec: tool.spec,
  open: () => tool,
  off: () => undefined,
  check: async () => undefined,
  close() {},
})
