/** One call of a model in the form that all replies and traces share. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { EngineName } from '#lib/sampling/engine-names.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { PromptSegment, ResponseSegment, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { readTools } from '../messages.ts'

/** A call. Its columns are checked; the rest is as the file has it. */
export interface ModelCall {
  /** Undefined if the file does not have the ids of the prompt. */
  readonly prompt: Pick<PromptSegment, 'ids' | 'logprobs' | 'topLogprobs' | 'problems' | 'derivation'> | undefined
  /** All messages of the request, in the notation of the file; undefined if they are unknown. */
  readonly messages: readonly JsonObject[] | undefined
  /** Without ids if the file does not have them. */
  readonly response: ResponseSegment
  readonly vocab: Vocab
  readonly tools: readonly ToolSpec[]
  readonly model: string | undefined
  readonly engine: ReplyEngine | undefined
  readonly temperature: number | undefined
  /** Other parameters of the request; undefined if the file has no request. */
  readonly sampling: JsonObject | undefined
  /** ISO 8601. */
  readonly createdAt: string | undefined
  /** What the file lacks of this call, in words. */
  readonly lacked: readonly string[]
  /** Content of the file without a field. */
  readonly rest: JsonObject | undefined
}

/** Name of an engine whose replies have token ids. */
export type ReplyEngine = Exclude<EngineName, 'openai'>

/** What a request contributes to a call. */
export type RequestFacts = Pick<ModelCall, 'messages' | 'tools' | 'temperature' | 'sampling'>

/** Reads a request body of chat completions or Anthropic; undefined if the file has none. */
export function requestFacts(request: JsonObject | undefined): RequestFacts {
  if (!request) return { messages: undefined, tools: [], temperature: undefined, sampling: undefined }
  const nested = isObject(request.sampling_params) ? request.sampling_params : {}
  const temperature = request.temperature ?? nested.temperature
  return {
    messages: messagesIn(request),
    tools: readTools(request.tools) ?? [],
    temperature: isTemperature(temperature) ? temperature : undefined,
    sampling: storable(without(request, [...TAKEN]) ?? {}),
  }
}

const TAKEN = ['messages', 'tools', 'system', 'prompt', 'input_ids', 'token_ids', 'text', 'model', 'stream'] as const

const isTemperature = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < Infinity

/** Anthropic has the system prompt beside the messages. */
function messagesIn({ messages, system }: JsonObject): readonly JsonObject[] | undefined {
  if (!Array.isArray(messages) || !messages.every(isObject)) return undefined
  const hasSystem = (typeof system === 'string' && system !== '') || Array.isArray(system)
  return hasSystem ? [{ role: 'system', content: system }, ...messages] : messages
}

/** Returns the call with its time, if the file has that of its end, and its duration in milliseconds. */
export function timedCall(call: ModelCall, endedAt: string | undefined, latency: unknown): ModelCall {
  if (endedAt === undefined) return call
  const isTimed = typeof latency === 'number' && latency >= 0 && latency < 1e12
  const startedAt = isTimed ? new Date(Date.parse(endedAt) - latency).toISOString() : endedAt
  return {
    ...call,
    createdAt: startedAt,
    response: { ...call.response, ...(isTimed && { timing: { startedAt, elapsedMs: latency } }) },
  }
}
