/** What a call to the model starts from: its settings, the input that it adds, and the dependencies of every endpoint. */
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import type { Prompt, PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { NewCallIds } from '#lib/rollout/record/record.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import type { RunLimits } from './limits.ts'

/** The settings of every call of a run. */
export interface CallSettings {
  readonly sampling: Sampling
  readonly limits: RunLimits
  /** True to request the logprobs of each new prompt (prefill, temperature 1). */
  readonly promptLogprobs: boolean
  /** Number of alternatives for each token; 0 requests none. */
  readonly topLogprobs: number
  readonly stream: boolean
  /** Fewest tokens of a chunk of a stream, where the server lets the client choose. Omitted: few enough for a live view. */
  readonly leastTokensPerChunk?: number
  /** Name of the LoRA adapter. Omitted: none. */
  readonly adapter?: string
  /** See GenerateRequest. Omitted: none. */
  readonly routingKey?: string
  /** True to request the experts that read each token. */
  readonly routedExperts?: boolean
  /** Most new tokens of a call that resumes a response, in place of max_new_tokens. Omitted: the same as of other calls. */
  readonly resumedMaxNewTokens?: number
  /** How many more tokens the server reads for images than are sent, as its refusal shows. Omitted: as earlier replies reported. */
  readonly furtherTokens?: number
}

/**
 * The input that a call adds: messages through the chat template; for the first call, text or ids as given; or nothing, if it
 * resumes the trajectory from its own ids: it continues the last response, or answers the last prompt.
 */
export type PromptInput =
  | { readonly kind: 'resume' }
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'given'; readonly prompt: Prompt }

/** The dependencies of a token-in/token-out call. */
export interface CallDependencies extends ModelDependencies {
  readonly generate: EngineClient['generate']
  /** Shares the first prompt between runs that begin with the same one: it is derived for one of them. */
  readonly firstPrompt?: (derive: (signal: AbortSignal) => Promise<Prompt>, signal: AbortSignal) => Promise<Prompt>
}

/** The dependencies of every call, for any endpoint. */
export interface ModelDependencies {
  readonly serverName: string
  /** The description of the server when the run began. */
  readonly server: Partial<ServerDescription>
  readonly promptEncoder: PromptEncoder
  readonly parser: ToolParser
  readonly now: () => Date
  /** Returns the milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
  /** Returns a unique id of fixed length. */
  readonly newRequestId: () => string
  /** Omitted: calls are numbered through the trajectory. */
  readonly newCallIds?: NewCallIds
}
