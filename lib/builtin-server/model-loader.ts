/** Loads the model on the first request, once for all callers. After a failed load or a failed thread, the next request loads it again. */
import { startEngine } from '#lib/builtin-server/engine/engine-thread.ts'
import type { Capacity } from '#lib/builtin-server/engine/job.ts'
import type { GenerateServing } from '#lib/builtin-server/generate/generate-endpoint.ts'
import { unavailable } from '#lib/builtin-server/http/refusal.ts'
import { type ServedParsers, servedParsers } from '#lib/builtin-server/messages/served-parsers.ts'
import { type ModelFiles, type ModelPlace, modelFiles } from '#lib/builtin-server/models/model-files.ts'
import { vocabularyOf } from '#lib/builtin-server/models/vocabulary.ts'
import type { RepeatableComputation } from '#lib/builtin-server/openai/chat-prompt.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Progress } from '#lib/tokenizer/hub/repository.ts'

/** The model and how it is loaded. */
export interface ModelSource extends ModelPlace {
  readonly loadTokenizer: () => Promise<LoadedTokenizer>
  /** Renders and encodes with the tokenizer where that blocks no other request; without it, on this thread. */
  readonly settled?: RepeatableComputation
  /** Absolute path of worker.ts of this folder, which Node runs directly. */
  readonly workerFile: string
  readonly capacity: Capacity
}

interface Loaded extends GenerateServing {
  readonly settled: RepeatableComputation
  readonly tokenizer: LoadedTokenizer
  readonly parsers: ServedParsers
  /** Time of loading, in seconds since 1970. */
  readonly loadedAt: number
}

/** Access to the loaded model. */
export interface ModelLoader {
  /** Returns the model and loads it if needed. Throws HttpRefusal if that fails. */
  get(): Promise<Loaded>
  start(): void
  /** Returns the model; undefined while it is not loaded. */
  loaded(): Loaded | undefined
  /** Returns the progress of the model's download; undefined while there is none. */
  download(): Progress | undefined
  /** Returns why the last attempt failed, until one succeeds. */
  failure(): string | undefined
  close(): Promise<void>
}

type State =
  | { readonly kind: 'unloaded'; readonly failure: string | undefined }
  | { readonly kind: 'loading'; readonly loading: Promise<Loaded>; readonly failure: string | undefined }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }

/** Returns the loader; nothing is loaded before the first call of `get` or `start`. */
export function createModelLoader(source: ModelSource, generations: GenerateServing['generations']): ModelLoader {
  let state: State = { kind: 'unloaded', failure: undefined }
  let download: Progress | undefined
  const closing = new AbortController()
  const get = async (): Promise<Loaded> => {
    if (state.kind === 'loaded') return state.loaded
    if (state.kind === 'unloaded') state = { kind: 'loading', loading: begin(), failure: state.failure }
    return state.loading
  }
  const begin = async (): Promise<Loaded> => {
    try {
      const files = await modelFiles(
        source,
        (progress) => {
          download = progress
        },
        closing.signal,
      ).finally(() => {
        download = undefined
      })
      const loaded: Loaded = await load(source, files, generations, () => {
        if (state.kind === 'loaded' && state.loaded === loaded) state = { kind: 'unloaded', failure: undefined }
      })
      state = { kind: 'loaded', loaded }
      return loaded
    } catch (error) {
      const why = `The model cannot be loaded: ${error instanceof Error ? error.message : error}`
      state = { kind: 'unloaded', failure: why }
      throw unavailable(500, why)
    }
  }
  const loaded = (): Loaded | undefined => (state.kind === 'loaded' ? state.loaded : undefined)
  return {
    get,
    start() {
      // A failure is stored in the state for the next caller.
      get().catch(() => {})
    },
    loaded,
    download: () => download,
    failure: () => (state.kind === 'loaded' ? undefined : state.failure),
    async close() {
      closing.abort()
      const last = state.kind === 'loading' ? await state.loading.catch(() => undefined) : loaded()
      state = { kind: 'unloaded', failure: undefined }
      await last?.engine.close()
    },
  }
}

async function load(
  { loadTokenizer, workerFile, capacity, settled = async (tokenizer, compute) => compute(tokenizer) }: ModelSource,
  files: ModelFiles,
  generations: GenerateServing['generations'],
  onGone: () => void,
): Promise<Loaded> {
  const tokenizer = await loadTokenizer()
  const vocabulary = vocabularyOf(tokenizer.tokenizer)
  const { stopIds } = tokenizer
  const start = { files, vocabulary, stopIds, capacity }
  const engine = await startEngine(workerFile, start, onGone).catch((error: Error) => {
    throw new Error(`${error.message}${otherForms(files)}`, { cause: error })
  })
  const { vocabularySize, contextLength } = engine.facts
  const maxJobs = capacity.running + capacity.waiting
  const encode = (text: string) => settled(tokenizer, (own) => own.tokenizer.encode(text))
  const limits = { vocabularySize, contextLength, maxJobs, encode }
  return {
    tokenizer,
    settled,
    parsers: servedParsers(tokenizer),
    vocabulary,
    engine,
    limits,
    generations,
    loadedAt: Date.now() / 1000,
  }
}

const otherForms = ({ dtype, others }: ModelFiles): string =>
  others.length === 0
    ? ''
    : `. The data type is ${dtype}. The model also has ${others.join(', ')}: choose one with ROLLSCOPE_MODEL_DTYPE.`
