/** What the server asks of the engine thread and what comes back, as plain data that can be cloned between threads. */
import type { ModelFiles } from '#lib/builtin-server/models/model-files.ts'
import type { ModelFacts } from '#lib/builtin-server/models/open-session.ts'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import type { NativeGate } from './native-gate.ts'
import type { Tally } from './tally.ts'

/** One generation: a prompt, how to sample, what to report. */
export interface Job {
  /** Chosen by the server; never used twice. */
  readonly key: number
  /** Not empty, every id within the vocabulary. */
  readonly promptIds: readonly number[]
  readonly sampling: JobSampling
  /** undefined = no logprobs. */
  readonly logprobs: LogprobRequest | undefined
  /** A chunk after each so many tokens, the first one after one token; undefined = one chunk, when all is done. */
  readonly chunkTokens: number | undefined
}

/** SGLang's sampling parameters, checked and with their defaults filled in. */
export interface JobSampling {
  /** 0 = only read the prompt. */
  readonly maxNewTokens: number
  readonly minNewTokens: number
  /** Above 0: greedy is topK = 1 at temperature 1, as in SGLang. */
  readonly temperature: number
  readonly topP: number
  /** Infinity = all. */
  readonly topK: number
  readonly minP: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly repetitionPenalty: number
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[]
  readonly stopTexts: readonly string[]
  /** Sources of JavaScript regular expressions that compile. */
  readonly stopPatterns: readonly string[]
  /** Besides those of the model. */
  readonly stopIds: readonly number[]
  /** Neither the model's stop ids nor the request's end the generation. */
  readonly ignoreStopIds: boolean
  /** The text keeps the stop text, or the stop token's text, that ended it. */
  readonly keepsStop: boolean
  readonly showsSpecialTokens: boolean
  readonly seed: number | undefined
  /** What the text must be. */
  readonly grammar: GrammarSource | undefined
  /** The grammar begins behind these ids, those that end the reasoning; none: with the first token. */
  readonly grammarBehind: readonly number[]
}

/** A JSON schema as the text of it. Of calls the text begins with one, and then goes on as it likes. */
export type GrammarSource =
  | { readonly kind: 'regex' | 'json_schema'; readonly source: string }
  | { readonly kind: 'calls'; readonly forms: readonly CallForm[] }

/** How a call of one tool is written. */
export interface CallForm {
  /** Up to its arguments, other than that of every other tool. */
  readonly begin: string
  /** Of its arguments: the text of a JSON schema. */
  readonly schema: string
  readonly end: string
}

export interface LogprobRequest {
  /** First prompt position with a logprob; undefined = the output only. */
  readonly start: number | undefined
  /** So many best alternatives at each position. */
  readonly top: number
  /** Ids whose logprob is wanted at each position. */
  readonly ids: readonly number[] | undefined
}

/** What was generated since the last chunk. */
export interface JobChunk {
  readonly ids: readonly number[]
  readonly text: string
  /** One entry per id, [] when none were asked for; the lists of alternatives have one more after a prompt was only read. */
  readonly logprobs: readonly number[]
  readonly top: readonly Ranking[]
  /** In the order in which the ids were asked for. */
  readonly asked: readonly (readonly number[])[]
  /** Prompt tokens that had not to be computed. */
  readonly cachedTokens: number
  /** With the first chunk only, and only where asked for. */
  readonly input: InputLogprobs | undefined
  /** undefined = there is more to come. */
  readonly finish: JobFinish | undefined
}

/** Best first; parallel arrays. */
export interface Ranking {
  readonly ids: readonly number[]
  readonly logprobs: readonly number[]
}

/** One entry per prompt position from the start asked for; the first is always null, as in SGLang. */
export interface InputLogprobs {
  readonly ids: readonly number[]
  readonly logprobs: readonly (number | null)[]
  readonly top: readonly (Ranking | null)[]
  readonly asked: readonly (readonly number[] | null)[]
}

export type JobFinish =
  | { readonly kind: 'length' }
  | { readonly kind: 'stop'; readonly matched: number | string }
  | { readonly kind: 'aborted'; readonly stage: 'waiting' | 'running' }
  | { readonly kind: 'failed'; readonly status: 400 | 500 | 503; readonly message: string }

/** The only chunk of a job that was never run. */
export const emptyChunk = (finish: JobFinish): JobChunk => ({
  ids: [],
  text: '',
  logprobs: [],
  top: [],
  asked: [],
  cachedTokens: 0,
  input: undefined,
  finish,
})

/** The worker's data at its start. */
export interface EngineStart {
  readonly files: ModelFiles
  readonly vocabulary: Vocabulary
  /** Ids that end a generation by the tokenizer's files. */
  readonly stopIds: readonly number[]
  readonly capacity: Capacity
  readonly gate: NativeGate
  readonly tally: Tally
}

export type ToEngine =
  | { readonly type: 'run'; readonly job: Job }
  | { readonly type: 'abort'; readonly key: number }
  | { readonly type: 'flush' }

export type FromEngine =
  | { readonly type: 'loaded'; readonly facts: ModelFacts }
  | { readonly type: 'load-failed'; readonly message: string }
  | { readonly type: 'chunks'; readonly chunks: readonly ChunkOf[] }

/** Of a job. */
export interface ChunkOf {
  readonly key: number
  readonly chunk: JobChunk
}

/** How much the engine takes on. */
export interface Capacity {
  /** Jobs that are decoded together; each holds its keys and values, 25 MB at 4,096 tokens of the built-in model. */
  readonly running: number
  /** Jobs that may wait for a place; more are refused with a 503. */
  readonly waiting: number
  /** For the keys and values of prompts and replies seen before. */
  readonly cacheBytes: number
}

/** The cache holds 43,000 tokens of the built-in model, at 6 KB each. */
export const DEFAULT_CAPACITY: Capacity = { running: 8, waiting: 512, cacheBytes: 256 * 2 ** 20 }

export const QUEUE_FULL = 'The request queue is full.'
