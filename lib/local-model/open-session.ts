/** Opens the ONNX session of a model, from a folder or from the Hub, with what its config.json says. */
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { InferenceSession } from 'onnxruntime-node'
import * as z from 'zod'
import { schemaViolation, violationText } from '#lib/core/schema-violation.ts'
import type { ModelFacts } from './job.ts'
import type { GraphConfig } from './onnx-model.ts'

export interface OpenSession {
  readonly session: InferenceSession
  readonly facts: ModelFacts
  readonly graph: GraphConfig
  /** Ids that end a generation by config.json. */
  readonly stopIds: readonly number[]
}

/** A folder holds config.json and onnx/model.onnx; anything else is the Hub name of an ONNX causal language model. */
export async function openSession(model: string, cacheFolder: string | undefined): Promise<OpenSession> {
  if (await isFolder(model)) {
    const config = JSON.parse(await readFile(path.join(model, 'config.json'), 'utf8')) as unknown
    return described(await InferenceSession.create(path.join(model, 'onnx', 'model.onnx'), SESSION_OPTIONS), config)
  }
  if (path.isAbsolute(model) || model.startsWith('.')) throw new Error(`there is no folder ${model}`)
  // Loaded only here: it costs a second and 60 MB that a folder does not need.
  const { AutoModelForCausalLM, env } = await import('@huggingface/transformers')
  if (cacheFolder !== undefined) env.cacheDir = cacheFolder
  env.allowLocalModels = false
  const options = { dtype: 'fp32', session_options: SESSION_OPTIONS } as const
  const { sessions, config } = await AutoModelForCausalLM.from_pretrained(model, options).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`${model} is not in the cache and cannot be had from the Hub: ${why}`, { cause: error })
  })
  if (sessions.model === undefined) throw new Error(`${model} has no decoder in one ONNX file`)
  return described(sessions.model, config)
}

/** One thread without spinning leaves the machine to the application; more gain little on a model of this size. */
const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}

async function isFolder(name: string): Promise<boolean> {
  const found = await stat(name).catch(() => undefined)
  return found?.isDirectory() ?? false
}

const configSchema = z.looseObject({
  vocab_size: z.int().min(1),
  max_position_embeddings: z.int().min(1),
  num_attention_heads: z.int().optional(),
  num_key_value_heads: z.int().nullish(),
  hidden_size: z.int().optional(),
  head_dim: z.int().nullish(),
  eos_token_id: z.union([z.int(), z.array(z.int())]).nullish(),
  model_type: z.string().default('unknown'),
  architectures: z.array(z.string()).nullish(),
})

function described(session: InferenceSession, value: unknown): OpenSession {
  const result = configSchema.safeParse(value)
  if (!result.success) throw new Error(`config.json: ${violationText(schemaViolation(result.error, value))}`)
  const config = result.data
  const size = config.hidden_size && config.num_attention_heads && config.hidden_size / config.num_attention_heads
  return {
    session,
    facts: {
      vocabularySize: config.vocab_size,
      contextLength: config.max_position_embeddings,
      modelType: config.model_type,
      architectures: config.architectures ?? [],
    },
    graph: {
      contextLength: config.max_position_embeddings,
      heads: config.num_key_value_heads ?? config.num_attention_heads,
      headSize: config.head_dim ?? size,
    },
    stopIds: [config.eos_token_id ?? []].flat(),
  }
}
