/** Opens the ONNX session of a model, with what its config.json says. */
import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import type { Dtype } from './dtypes.ts'
import { modelConfig } from './model-config.ts'
import type { ModelFiles } from './model-files.ts'
import type { GraphConfig } from './onnx-model.ts'

export interface OpenSession {
  readonly session: InferenceSession
  readonly facts: ModelFacts
  readonly graph: GraphConfig
  /** Ids that end a generation by config.json. */
  readonly stopIds: readonly number[]
}

export interface ModelFacts {
  readonly vocabularySize: number
  readonly contextLength: number
  readonly modelType: string
  readonly architectures: readonly string[]
  /** How its weights are kept. */
  readonly dtype: Dtype
}

/** Throws an Error that says what cannot be read. */
export async function openSession({ config: configFile, graph: graphFile, dtype }: ModelFiles): Promise<OpenSession> {
  const { graph, stopIds, ...facts } = modelConfig(JSON.parse(await readFile(configFile, 'utf8')))
  const session = await InferenceSession.create(graphFile, SESSION_OPTIONS)
  return { session, facts: { ...facts, contextLength: graph.contextLength, dtype }, graph, stopIds }
}

/** One thread without spinning leaves the machine to the application; more gain little on a model of this size. */
const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}
