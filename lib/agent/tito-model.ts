/**
 * A Strands model that runs token-in/token-out. The trajectory is the record: the SDK's messages only tell it that it is
 * the model's turn. What the model writes reaches the SDK as one text, its tool calls as tool-use blocks.
 */
import { Model, type ModelStreamEvent } from '@strands-agents/sdk'
import { responseText } from '#lib/core/conversation.ts'
import { tokenCount } from '#lib/core/tokens.ts'
import type { Message, ResponseSegment, ToolCall } from '#lib/core/trajectory.ts'
import type { Recorder } from './recorder.ts'

export interface TitoModelConfig {
  readonly modelId: string
}

/** Sends messages and returns the recorded response; throws RunEnded. */
export type CallModel = (messages: readonly Message[]) => Promise<ResponseSegment>

export class TitoModel extends Model<TitoModelConfig> {
  readonly #recorder: Recorder
  readonly #call: CallModel
  /** What the next call adds: first the question, later the results of the calls before. */
  #news: readonly Message[]
  #config: TitoModelConfig

  constructor(recorder: Recorder, news: readonly Message[], call: CallModel) {
    super()
    this.#recorder = recorder
    this.#news = news
    this.#call = call
    this.#config = { modelId: recorder.trajectory.model.name ?? 'sglang' }
  }

  override updateConfig(config: TitoModelConfig): void {
    this.#config = { ...this.#config, ...config }
  }

  override getConfig(): TitoModelConfig {
    return this.#config
  }

  /** The SDK would estimate from characters before every call. */
  override async countTokens(): Promise<number> {
    return tokenCount(this.#recorder.trajectory)
  }

  override async *stream(): AsyncIterable<ModelStreamEvent> {
    const response = await this.#call(this.#news)
    this.#news = response.toolCalls.map((call): Message => ({ role: 'tool', callId: call.id }))
    yield { type: 'modelMessageStartEvent', role: 'assistant' }
    yield* textBlock(responseText(response, this.#recorder.trajectory))
    for (const call of response.toolCalls) yield* toolUseBlock(call)
    yield { type: 'modelMessageStopEvent', stopReason: response.toolCalls.length > 0 ? 'toolUse' : 'endTurn' }
    yield { type: 'modelMetadataEvent', ...metadata(response) }
  }
}

function* textBlock(text: string): Iterable<ModelStreamEvent> {
  yield { type: 'modelContentBlockStartEvent' }
  yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text } }
  yield { type: 'modelContentBlockStopEvent' }
}

/** A tool the SDK could look up is named even when the call is malformed: the hook before the tool keeps it from running. */
export const MALFORMED_CALL = 'malformed_tool_call'

function* toolUseBlock(call: ToolCall): Iterable<ModelStreamEvent> {
  const name = call.kind === 'parsed' ? call.name : (call.name ?? MALFORMED_CALL)
  const input = call.kind === 'parsed' ? call.input : {}
  yield { type: 'modelContentBlockStartEvent', start: { type: 'toolUseStart', name, toolUseId: call.id } }
  yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'toolUseInputDelta', input: JSON.stringify(input) } }
  yield { type: 'modelContentBlockStopEvent' }
}

function metadata({
  usage,
  timing,
}: ResponseSegment): Omit<Extract<ModelStreamEvent, { type: 'modelMetadataEvent' }>, 'type'> {
  const inputTokens = usage?.promptTokens ?? 0
  const outputTokens = usage?.completionTokens ?? 0
  return {
    usage: {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      ...(usage?.cachedTokens !== undefined && { cacheReadInputTokens: usage.cachedTokens }),
    },
    metrics: { latencyMs: timing?.elapsedMs ?? 0 },
  }
}
