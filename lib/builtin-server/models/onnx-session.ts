/** Opens the ONNX session of a model and reads its config.json. */
import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import type { Dtype } from './dtypes.ts'
import { modelConfig } from './model-config.ts'
import type { ModelFiles } from './model-files.ts'
import type { GraphConfig } from './onnx-model.ts'

/** An open session with its facts. */
export interface OnnxSession {
  readonly session: InferenceSession
  readonly facts: ModelFacts
  readonly graph: GraphConfig
  /** Ids that end a generation according to config.json. */
  readonly stopIds: readonly number[]
}

/** Facts of a model that clients see. */
export interface ModelFacts {
  readonly vocabularySize: number
  readonly contextLength: number
  readonly modelType: string
  readonly architectures: readonly string[]
  /** Data type of the weights. */
  readonly dtype: Dtype
}

/** Opens the session. Throws an Error that names what cannot be read. */
export async function openOnnxSession({
  config: configFile,
  graph: graphFile,
  dtype,
}: ModelFiles): Promise<OnnxSession> {
  const { graph, stopIds, ...facts } = modelConfig(JSON.parse(await readFile(configFile, 'utf8')))
  const session = await InferenceSession.create(graphFile, SESSION_OPTIONS)
  return { session, facts: { ...facts, contextLength: graph.contextLength, dtype }, graph, stopIds }
}

/** One thread without spinning leaves the machine to the application; more threads gain little for a model of this size. */
const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}
