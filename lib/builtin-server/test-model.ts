/** The built-in model for tests: the real model in a real thread, without a network. */
import path from 'node:path'
import { DEFAULT_CAPACITY } from '#lib/builtin-server/engine/job.ts'
import type { ModelFiles } from '#lib/builtin-server/models/model-files.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { createLocalModel, type LocalModel, type LocalModelOptions } from './local-model.ts'

/** Folder of the shipped model. */
export const MODEL_FOLDER = path.resolve('models/tiny-qwen3')
const MODEL_NAME = 'tiny-qwen3'
/** Files of the shipped model. */
export const SHIPPED_FILES: ModelFiles = {
  config: path.join(MODEL_FOLDER, 'config.json'),
  graph: path.join(MODEL_FOLDER, 'onnx', 'model.onnx'),
  dtype: 'fp32',
  others: [],
}

const NO_HUB = { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: undefined }

const tokenizers = createTokenizerLoader({
  builtIn: { [MODEL_NAME]: MODEL_FOLDER },
  folders: [],
  hub: NO_HUB,
})

/** Loads the tokenizer of the shipped model. */
export const loadModelTokenizer = () => tokenizers.load(MODEL_NAME)

/** Returns a server with the shipped model; the caller closes it. */
export const createTestModel = (options: Partial<LocalModelOptions> = {}): LocalModel =>
  createLocalModel({
    model: MODEL_FOLDER,
    dtype: undefined,
    hub: NO_HUB,
    freeMemory: () => Number.POSITIVE_INFINITY,
    modelName: MODEL_NAME,
    loadTokenizer: loadModelTokenizer,
    workerFile: path.resolve('lib/builtin-server/engine/worker.ts'),
    capacity: DEFAULT_CAPACITY,
    ...options,
  })

type Logprobs = readonly (readonly [logprob: number, id: number, text: string | null])[]

/** A reply of /generate with the fields that tests read. */
export interface TestReply {
  readonly text: string
  readonly output_ids: readonly number[]
  readonly prompt_token_ids?: readonly number[]
  readonly meta_info: {
    readonly id: string
    readonly finish_reason: {
      readonly type: string
      readonly matched?: number | string
      readonly message?: string
    } | null
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly cached_tokens: number
    readonly input_token_logprobs: Logprobs
    readonly output_token_logprobs: Logprobs
    readonly output_token_logprobs_length: number
    readonly input_top_logprobs: readonly (Logprobs | null)[]
    readonly output_top_logprobs: readonly Logprobs[]
    readonly input_token_ids_logprobs: readonly (Logprobs | null)[]
    readonly output_token_ids_logprobs: readonly Logprobs[]
  }
}

/** Size of the shipped model's vocabulary. */
export const IDS = 1024

/** Ids of a short ChatML question. */
export const PROMPT: readonly number[] = [1, 308, 207, 578, 229, 338, 229, 25, 26, 2, 207, 1, 315, 207]

/** Returns sampling parameters of a reply that ignores the model's own end. */
export const lasting = (own: object = {}): object => ({ max_new_tokens: 12, ignore_eos: true, ...own })

/** Returns the logprobs of a reply's ids. */
export const outputLogprobs = ({ meta_info }: TestReply): number[] =>
  meta_info.output_token_logprobs.map(([logprob]) => logprob)

/**
 * Returns the largest difference of numbers at the same index; Infinity if the lengths differ. Rounding in another order of passes causes
 * 1e-5.
 */
export function largestDifference(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY
  return Math.max(0, ...a.map((value, index) => Math.abs(value - (b[index] as number))))
}

/** A client of a server in the same process. */
export interface TestClient {
  get(path: string): Promise<Response>
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>
  /** Returns a reply and expects status 200. */
  generate(body: object): Promise<TestReply>
  /** Returns the events of a stream up to [DONE]. */
  stream(body: object): Promise<TestReply[]>
}

/** Returns a client of a server. */
export function testClient({ handle }: LocalModel): TestClient {
  const post: TestClient['post'] = (pathname, body, signal) =>
    handle(
      new Request(`http://localhost${pathname}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal && { signal }),
      }),
    )
  return {
    get: (pathname) => handle(new Request(`http://localhost${pathname}`)),
    post,
    async generate(body) {
      const response = await post('/generate', body)
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      return response.json()
    },
    async stream(body) {
      const response = await post('/generate', { ...body, stream: true })
      return eventsIn(await response.text()) as TestReply[]
    },
  }
}

/** Returns the JSON of every event. Throws an Error if the stream does not end as SGLang's do. */
export function eventsIn(text: string): unknown[] {
  const lines = text.split('\n\n')
  if (lines.pop() !== '' || lines.pop() !== 'data: [DONE]')
    throw new Error(`no [DONE] at the end of ${text.slice(-80)}`)
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')))
}
