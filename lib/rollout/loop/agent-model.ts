/** A Strands model whose turns are made and recorded outside of it; the SDK receives each turn as a whole. */
import {
  type JSONValue,
  Model,
  ModelMetadataEvent,
  type ModelStreamEvent,
  Message as SdkMessage,
  type StreamOptions,
  TextBlock,
  ToolUseBlock,
} from '@strands-agents/sdk'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { Recorder } from './recorder.ts'

interface ModelConfig {
  readonly modelId: string
}

/** A turn as the SDK receives it. */
interface Turn {
  /** The text of the turn. Omitted: the SDK receives no text. */
  readonly text?: string
  /** The calls that the SDK must run. */
  readonly calls: readonly ToolUse[]
  readonly response: ResponseSegment
}

/** A tool call as the SDK receives it. */
export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** Returns the next turn; throws RunEnded. */
type TakeTurn = (messages: readonly SdkMessage[], options?: StreamOptions) => Promise<Turn>

type Aggregating = ReturnType<Model['streamAggregated']>
type Aggregated = Aggregating extends AsyncGenerator<unknown, infer Result, unknown> ? Result : never

/** The SDK's model. `takeTurn` makes and records each turn. */
export class AgentModel extends Model<ModelConfig> {
  readonly #recorder: Recorder
  readonly #takeTurn: TakeTurn
  #config: ModelConfig

  constructor(recorder: Recorder, takeTurn: TakeTurn) {
    super()
    this.#recorder = recorder
    this.#takeTurn = takeTurn
    this.#config = { modelId: recorder.trajectory.model.name ?? 'sglang' }
  }

  override updateConfig(config: ModelConfig): void {
    this.#config = { ...this.#config, ...config }
  }

  override getConfig(): ModelConfig {
    return this.#config
  }

  /** The SDK would otherwise estimate tokens from characters before every call. */
  override async countTokens(): Promise<number> {
    return tokenCount(this.#recorder.trajectory)
  }

  /** Returns the turn as the SDK stores one; throws RunEnded. */
  async answer(messages: readonly SdkMessage[], options?: StreamOptions): Promise<Aggregated> {
    return aggregateTurn(await this.#takeTurn(messages, options))
  }

  /** Yields the whole turn at once. The SDK's own implementation sends each event of a stream through a dozen generators. */
  // biome-ignore lint/correctness/useYield: a turn is there as a whole.
  override async *streamAggregated(messages: SdkMessage[], options?: StreamOptions): Aggregating {
    return this.answer(messages, options)
  }

  override stream(): AsyncIterable<ModelStreamEvent> {
    throw new Error('a turn is reported as a whole')
  }
}

function aggregateTurn({ text, calls, response: { usage, timing } }: Turn): Aggregated {
  const inputTokens = usage?.promptTokens ?? 0
  const outputTokens = usage?.completionTokens ?? 0
  return {
    message: new SdkMessage({
      role: 'assistant',
      content: [
        // The SDK’s own model drops blank texts, too.
        ...(text === undefined || text.trim() === '' ? [] : [new TextBlock(text)]),
        ...calls.map(({ id, name, input }) => new ToolUseBlock({ toolUseId: id, name, input: input as JSONValue })),
      ],
    }),
    stopReason: calls.length > 0 ? 'toolUse' : 'endTurn',
    metadata: new ModelMetadataEvent({
      type: 'modelMetadataEvent',
      usage: {
        inputTokens,
        outputTokens,
        totalTokens: inputTokens + outputTokens,
        ...(usage?.cachedTokens !== undefined && { cacheReadInputTokens: usage.cachedTokens }),
      },
      metrics: { latencyMs: timing?.elapsedMs ?? 0 },
    }),
  }
}
