/** Reads facts from a model's config.json that its graph lacks, in the names of the families that transformers.js supports. */
import * as z from 'zod'
import { isObject } from '#lib/json/json-object.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import type { GraphConfig } from './onnx-model.ts'

/** Facts of a model. */
export interface ModelConfig {
  readonly vocabularySize: number
  readonly modelType: string
  readonly architectures: readonly string[]
  readonly graph: GraphConfig
  /** Ids that end a generation. */
  readonly stopIds: readonly number[]
}

/** Names of the fields in GPT-2, GPT-J, Bloom, MPT and others. */
const NAMES = {
  max_position_embeddings: ['n_positions', 'n_ctx', 'max_seq_len', 'max_sequence_length', 'seq_length'],
  num_attention_heads: ['n_head', 'n_heads', 'num_heads'],
  num_key_value_heads: ['num_kv_heads', 'multi_query_group_num'],
  hidden_size: ['n_embd', 'n_embed', 'd_model', 'dim'],
  head_dim: ['kv_channels'],
} as const

const whole = z.int().min(1)

const configSchema = z.looseObject({
  vocab_size: whole,
  max_position_embeddings: whole,
  num_attention_heads: whole.optional(),
  num_key_value_heads: whole.nullish(),
  hidden_size: whole.optional(),
  head_dim: whole.nullish(),
  eos_token_id: z.union([z.int(), z.array(z.int())]).nullish(),
  model_type: z.string().default('unknown'),
  architectures: z.array(z.string()).nullish(),
})

/** Returns the facts of a parsed config.json. Throws an Error that names the invalid field. */
export function modelConfig(value: unknown): ModelConfig {
  const named = renameFields(value)
  const result = configSchema.safeParse(named)
  if (!result.success) throw new Error(`config.json: ${violationText(schemaViolation(result.error, named))}`)
  const config = result.data
  const size = config.hidden_size && config.num_attention_heads && config.hidden_size / config.num_attention_heads
  return {
    vocabularySize: config.vocab_size,
    modelType: config.model_type,
    architectures: config.architectures ?? [],
    graph: {
      contextLength: config.max_position_embeddings,
      heads: config.num_key_value_heads ?? config.num_attention_heads,
      headSize: config.head_dim ?? size,
    },
    stopIds: [config.eos_token_id ?? []].flat(),
  }
}

/** Returns the fields of the decoder, which are one level down in models with several kinds of input. */
function renameFields(value: unknown): unknown {
  if (!isObject(value)) return value
  const text = [value.text_config, value.llm_config].find(isObject)
  const all: Record<string, unknown> = { ...text, ...withoutNothing(value) }
  for (const [name, others] of Object.entries(NAMES)) {
    const other = others.find((one) => all[one] !== undefined)
    if (all[name] === undefined && other !== undefined) all[name] = all[other]
  }
  return all
}

const withoutNothing = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null))
