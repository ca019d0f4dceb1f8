/**
 * One call of a session, whatever protocol its client speaks: the request as a SessionCall, the answer as ReplyDeltas or as one
 * SessionReply. lib/session/protocols reads and writes the protocols' own JSON.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Finish, Message, Span } from '#lib/trajectory/format/trajectory.ts'

/** Protocols of clients: OpenAI chat completions, Anthropic messages and OpenAI responses. */
export const PROTOCOL_NAMES = ['chat', 'messages', 'responses'] as const
/** Name of a client's protocol. */
export type ProtocolName = (typeof PROTOCOL_NAMES)[number]

/** Whether and what the model must call. A `name` is that of one of the tools. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

/** The JSON that a reply must be: any object, or one that matches a JSON Schema. */
export type StructuredOutput =
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly name?: string; readonly schema: JsonObject }

/** A request of a client. */
export interface SessionCall {
  readonly protocol: ProtocolName
  /** The model as the client names it. */
  readonly model: string
  /**
   * The whole history that the client sent, as chat templates take it. A system prompt beside the messages is the first of them.
   * `input` of a call is its parsed JSON, or the text that the client sent if that is not JSON.
   */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly toolChoice: ToolChoice
  /** False: at most one call in a reply. */
  readonly parallelToolCalls: boolean
  /** Parameters by SGLang's names. It has no grammar: that is in `structured`. */
  readonly sampling: SamplingRequest
  readonly structured: StructuredOutput | undefined
  /** Number of replies, at least 1. */
  readonly n: number
  /** Number of alternatives at each token, from 0; undefined: the client wants no logprobs. */
  readonly logprobs: number | undefined
  readonly stream: boolean
  /** Whether a stream ends with the token counts. */
  readonly includeUsage: boolean
  /** Variables of the chat template, such as enable_thinking. */
  readonly templateArguments: Readonly<Record<string, unknown>>
  readonly metadata: CallMetadata
  /** The body that was sent. A reply of the responses protocol repeats its settings. */
  readonly body: JsonObject
}

/** What a client says about its call beside the request itself. */
export interface CallMetadata {
  /** The session that the client names in `metadata`. Omitted: it names none. */
  readonly sessionId?: string
  /** The end user that the client names. Omitted: it names none. */
  readonly user?: string
}

/** A part of a reply, in the order in which the model wrote it. Adjacent parts have different kinds, except for calls. */
export type ReplyPart =
  | {
      readonly kind: 'reasoning' | 'text'
      readonly text: string
      /** Tokens of the reply that contain the text. Omitted: the client wants no logprobs of texts. */
      readonly tokens?: Span
    }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly name: string
      /** JSON text of an object. */
      readonly arguments: string
    }

/** One of the replies to a call. */
export interface ReplyChoice {
  readonly parts: readonly ReplyPart[]
  /** A reply that ended by itself after a call has finish reason tool_calls, tool_use or their like in the client's protocol. */
  readonly finish: Finish
  /** All tokens of the reply, including reasoning, calls and the stop token. */
  readonly tokens: ArrivedTokens
}

/** Token counts of a call; the tokens of all its replies together. */
export interface ReplyUsage {
  readonly promptTokens: number
  /** Prompt tokens from the prefix cache. */
  readonly cachedTokens: number
  readonly completionTokens: number
  /** Completion tokens inside of think blocks. */
  readonly reasoningTokens: number
}

/** What is known of an answer before its first token. */
export interface ReplyHead {
  /** A unique text of letters and digits. Each protocol adds its own prefix. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The model as the answer names it. */
  readonly model: string
  /** Tokens of the prompt; Anthropic's streams begin with them. */
  readonly promptTokens: number
  /** Prompt tokens from the prefix cache, 0 if unknown yet. */
  readonly cachedTokens: number
}

/** The answer to a call. */
export interface SessionReply extends ReplyHead {
  /** `n` replies in their order. */
  readonly choices: readonly ReplyChoice[]
  readonly usage: ReplyUsage
}

/**
 * A part of an answer as it arrives. `choice` is the index of the reply, `call` the index of the call within it. A call is
 * started once; its arguments follow until another delta of the choice.
 */
export type ReplyDelta =
  /** Tokens of the texts and calls that follow until the next tokens of the choice. */
  | { readonly kind: 'tokens'; readonly choice: number; readonly tokens: ArrivedTokens }
  | {
      readonly kind: 'reasoning' | 'text'
      readonly choice: number
      readonly text: string
      /** Tokens of the reply that this piece adds to those of its part. Omitted: as for a part. */
      readonly tokens?: Span
    }
  | {
      readonly kind: 'call'
      readonly choice: number
      readonly call: number
      readonly id: string
      readonly name: string
    }
  | { readonly kind: 'arguments'; readonly choice: number; readonly call: number; readonly text: string }
  | { readonly kind: 'finish'; readonly choice: number; readonly finish: Finish }
  /** The last delta of an answer. */
  | { readonly kind: 'usage'; readonly usage: ReplyUsage }
