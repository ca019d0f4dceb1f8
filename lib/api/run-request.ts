/** Defines the request of POST /api/rollouts and its answer. The schemas of requests are in lib/server/runs/rollouts.ts. */
import * as z from 'zod/mini'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import type { McpToolName } from './mcp-server.ts'

/** `max_new_tokens` of a request that has none. SGLang's own default of 128 cuts most replies of thinking models. */
export const DEFAULT_MAX_NEW_TOKENS = 1024

/** A tool of a run. A string is the name of a tool of the application. */
export type RequestedTool = string | McpToolName | MockTool

/** Part of a request that begins a run and determines its tokens. */
export interface RunOpening {
  readonly prompt?: string
  /** Data URLs of images before the text of `prompt`. */
  readonly images?: readonly string[]
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

/** Part of a request that can change with every turn. */
export interface RunSettings {
  readonly sampling?: SamplingRequest
  readonly limits?: Readonly<Record<string, number>>
  readonly topLogprobs?: number
  readonly promptLogprobs?: boolean
  readonly stream?: boolean
  readonly adapter?: string
  readonly routedExperts?: boolean
  readonly server?: string
}

/** Body of POST /api/rollouts. */
export interface RunRequest extends RunOpening, RunSettings {}

/** The answer of POST /api/rollouts. */
export const runStartedSchema = z.object({ rolloutId: z.string(), trajectoryId: z.string() })
/** Ids of the events and of the trajectory of a new run. */
export type RunStarted = Readonly<z.infer<typeof runStartedSchema>>
