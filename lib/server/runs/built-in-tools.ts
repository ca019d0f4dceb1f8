/** The tools that come with the application. */
import path from 'node:path'
import { createPython } from '#lib/rollout/python/python.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** A tool of the application, which several runs may use at once. */
export interface BuiltInTool {
  readonly spec: ToolSpec
  /** Returns the tool for one run. Nothing is started before its first call. */
  open(): AgentTool
  /** Returns why this machine cannot run the tool, as far as is known; undefined if no reason is known. */
  off(): string | undefined
  /** Tries the tool before the first run that uses it, and returns why this machine cannot run it. */
  check(): Promise<string | undefined>
  close(): void
}

/** Returns the tools that every run may choose by name. */
export const createBuiltInTools = (applicationFolder: string, dataFolder: string): readonly BuiltInTool[] => [
  plainTool(calculator),
  createPython({ applicationFolder, folder: path.join(dataFolder, 'python') }),
]

/** Returns a built-in tool that keeps no state and works on every machine. */
export const plainTool = (tool: AgentTool): BuiltInTool => ({
  spec: tool.spec,
  open: () => tool,
  off: () => undefined,
  check: async () => undefined,
  close() {},
})
