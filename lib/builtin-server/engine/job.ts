/** Messages between the server and the engine thread, as plain data that can be cloned between threads. */
import type { ModelFiles } from '#lib/builtin-server/models/model-files.ts'
import type { ModelFacts } from '#lib/builtin-server/models/onnx-session.ts'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import type { NativeGate } from './native-gate.ts'
import type { EngineCounters } from './tally.ts'

/** One generation: a prompt, how to sample, and what to report. */
export interface Job {
  /** Unique key that the server assigns and never uses again. */
  readonly key: number
  /** Ids of the prompt: at least one, each within the vocabulary. */
  readonly promptIds: readonly number[]
  readonly sampling: JobSampling
  /** The logprobs to report; undefined: none. */
  readonly logprobs: LogprobRequest | undefined
  /** Number of tokens between two chunks, after a first chunk of one token; undefined: one chunk at the end. */
  readonly chunkTokens: number | undefined
}

/** SGLang's sampling parameters, checked and with their defaults. */
export interface JobSampling {
  /** Largest number of new tokens; 0 only reads the prompt. */
  readonly maxNewTokens: number
  readonly minNewTokens: number
  /** Above 0: greedy sampling is topK = 1 at temperature 1, as in SGLang. */
  readonly temperature: number
  readonly topP: number
  /** Number of best tokens that may be drawn; Infinity: all. */
  readonly topK: number
  readonly minP: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly repetitionPenalty: number
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[]
  readonly stopTexts: readonly string[]
  /** Sources of JavaScript regular expressions that compile. */
  readonly stopPatterns: readonly string[]
  /** Stop ids of the request, in addition to those of the model. */
  readonly stopIds: readonly number[]
  /** Whether neither the model's stop ids nor the request's end the generation. */
  readonly ignoreStopIds: boolean
  /** Whether the text keeps the stop text, or the stop token's text, that ended it. */
  readonly keepsStop: boolean
  readonly showsSpecialTokens: boolean
  readonly seed: number | undefined
  /** The grammar of the text; undefined: any text. */
  readonly grammar: GrammarSource | undefined
  /** The grammar begins after these ids, which end the reasoning; if empty, with the first token. */
  readonly grammarBehind: readonly number[]
}

/** A grammar as text; a JSON schema as its JSON. With calls, the text begins with one of them and continues freely. */
export type GrammarSource =
  | { readonly kind: 'regex' | 'json_schema'; readonly source: string }
  | { readonly kind: 'calls'; readonly forms: readonly CallForm[] }

/** How a call of one tool is written. */
export interface CallForm {
  /** Text before the arguments, different for every tool. */
  readonly begin: string
  /** Text of the JSON schema of the arguments. */
  readonly schema: string
  readonly end: string
}

/** The logprobs that a request wants. */
export interface LogprobRequest {
  /** First prompt position with a logprob; undefined: only the output has logprobs. */
  readonly start: number | undefined
  /** Number of best alternatives at each position. */
  readonly top: number
  /** Ids whose logprob is reported at each position. */
  readonly ids: readonly number[] | undefined
}

/** The part that was generated since the last chunk. */
export interface JobChunk {
  readonly ids: readonly number[]
  readonly text: string
  /**
   * One entry per id; [] if no logprobs were requested. The lists of alternatives have one more entry after a prompt that was only read.
   */
  readonly logprobs: readonly number[]
  readonly top: readonly TokenRanking[]
  /** Logprobs of the requested ids, in the request's order. */
  readonly requested: readonly (readonly number[])[]
  /** Number of prompt tokens that came from the cache. */
  readonly cachedTokens: number
  /** Only in the first chunk, and only if requested. */
  readonly input: InputLogprobs | undefined
  /** How the generation ended; undefined: more chunks follow. */
  readonly finish: JobFinish | undefined
}

/** Alternatives at one position, best first, as parallel arrays. */
export interface TokenRanking {
  readonly ids: readonly number[]
  readonly logprobs: readonly number[]
}

/** Logprobs of the prompt, one entry per position from the requested start; the first one is always null, as in SGLang. */
export interface InputLogprobs {
  readonly ids: readonly number[]
  readonly logprobs: readonly (number | null)[]
  readonly top: readonly (TokenRanking | null)[]
  readonly requested: readonly (readonly number[] | null)[]
}

/** How a job ended. `matched` is a stop id or a stop text; `stage` says whether an aborted job had begun. */
export type JobFinish =
  | { readonly kind: 'length' }
  | { readonly kind: 'stop'; readonly matched: number | string }
  | { readonly kind: 'aborted'; readonly stage: 'waiting' | 'running' }
  | { readonly kind: 'failed'; readonly status: 400 | 500 | 503; readonly message: string }

/** Returns the only chunk of a job that never ran. */
export const emptyChunk = (finish: JobFinish): JobChunk => ({
  ids: [],
  text: '',
  logprobs: [],
  top: [],
  requested: [],
  cachedTokens: 0,
  input: undefined,
  finish,
})

/** Data that the worker receives when it starts. */
export interface EngineStart {
  readonly files: ModelFiles
  readonly vocabulary: Vocabulary
  /** Ids that end a generation according to the tokenizer's files. */
  readonly stopIds: readonly number[]
  readonly capacity: Capacity
  readonly gate: NativeGate
  readonly tally: EngineCounters
}

/** A message to the engine thread. */
export type ToEngine =
  | { readonly type: 'run'; readonly job: Job }
  | { readonly type: 'abort'; readonly key: number }
  | { readonly type: 'flush' }

/** A message from the engine thread. */
export type FromEngine =
  | { readonly type: 'loaded'; readonly facts: ModelFacts }
  | { readonly type: 'load-failed'; readonly message: string }
  | { readonly type: 'chunks'; readonly chunks: readonly ChunkOf[] }

/** A chunk with the key of its job. */
export interface ChunkOf {
  readonly key: number
  readonly chunk: JobChunk
}

/** Limits of the engine. */
export interface Capacity {
  /** Number of jobs that are decoded together; each needs its keys and values, 25 MB at 4,096 tokens of the built-in model. */
  readonly running: number
  /** Number of jobs that may wait for a place; further ones are refused with 503. */
  readonly waiting: number
  /** Bytes for the keys and values of earlier prompts and replies. */
  readonly cacheBytes: number
}

/** The default limits: the cache has room for 43,000 tokens of the built-in model, at 6 KB each. */
export const DEFAULT_CAPACITY: Capacity = { running: 8, waiting: 512, cacheBytes: 256 * 2 ** 20 }

/** SGLang's message for a request that the queue refuses. */
export const QUEUE_FULL = 'The request queue is full.'
