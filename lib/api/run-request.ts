/** Requests for runs, as POST /api/rollouts takes them, and its answer. The schemas of requests are in lib/server/runs/rollouts.ts. */
import * as z from 'zod'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import type { McpToolName } from './mcp-server.ts'

/** Sent where a request does not say: SGLang's own default of 128 cuts most replies of thinking models. */
export const DEFAULT_MAX_NEW_TOKENS = 1024

/** A tool of the application goes by its name. */
export type RequestedTool = string | McpToolName | MockTool

/** What begins a run, and is in its tokens. */
export interface RunOpening {
  readonly prompt?: string
  readonly messages?: readonly Message[]
  readonly text?: string
  readonly ids?: readonly number[]
  readonly system?: string
  readonly tools?: readonly RequestedTool[]
  readonly parser?: string
  readonly templateOptions?: Readonly<Record<string, unknown>>
  readonly tokenizer?: string
  readonly chatTemplate?: string
  readonly endpoint?: 'generate' | 'chat'
}

/** What goes with every turn of it. */
export interface RunSettings {
  readonly sampling?: SamplingRequest
  readonly limits?: Readonly<Record<string, number>>
  readonly topLogprobs?: number
  readonly promptLogprobs?: boolean
  readonly stream?: boolean
  readonly server?: string
}

export interface RunRequest extends RunOpening, RunSettings {}

/** A run that has begun. */
export const runStartedSchema = z.object({ rolloutId: z.string(), trajectoryId: z.string() })
/** Where the events and the record of a run are found. */
export type RunStarted = Readonly<z.infer<typeof runStartedSchema>>
