/** The loaded model: asleep until somebody asks, loaded once for all who do, asleep again when loading or the thread fails. */
import type { LoadedTokenizer } from '#lib/tokenizer-files/tokenizer-files.ts'
import { startEngine } from './engine-thread.ts'
import type { Serving } from './generate.ts'
import { cannot } from './refusal.ts'
import { vocabularyOf } from './vocabulary.ts'

export interface ModelSource {
  /** A folder with config.json and onnx/model.onnx, or the Hub name of an ONNX causal language model. */
  readonly model: string
  readonly loadTokenizer: () => Promise<LoadedTokenizer>
  /** Absolute path of worker.ts of this folder, which Node runs as it is. */
  readonly workerFile: string
  /** For downloads from the Hub. */
  readonly cacheFolder?: string
}

interface Loaded extends Serving {
  readonly tokenizer: LoadedTokenizer
  /** Seconds since 1970. */
  readonly loadedAt: number
}

export interface ModelLoader {
  /** Throws a Refusal where it cannot be loaded. */
  get(): Promise<Loaded>
  start(): void
  /** undefined while it is not there. */
  loaded(): Loaded | undefined
  /** Why the last try failed, until one succeeds. */
  failure(): string | undefined
  close(): Promise<void>
}

type State =
  | { readonly kind: 'asleep'; readonly failure: string | undefined }
  | { readonly kind: 'loading'; readonly loading: Promise<Loaded>; readonly failure: string | undefined }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }

export function createModelLoader(source: ModelSource, generations: Serving['generations']): ModelLoader {
  let state: State = { kind: 'asleep', failure: undefined }
  const get = async (): Promise<Loaded> => {
    if (state.kind === 'loaded') return state.loaded
    if (state.kind === 'asleep') state = { kind: 'loading', loading: begin(), failure: state.failure }
    return state.loading
  }
  const begin = async (): Promise<Loaded> => {
    try {
      const loaded: Loaded = await load(source, generations, () => {
        if (state.kind === 'loaded' && state.loaded === loaded) state = { kind: 'asleep', failure: undefined }
      })
      state = { kind: 'loaded', loaded }
      return loaded
    } catch (error) {
      const why = `The model cannot be loaded: ${error instanceof Error ? error.message : error}`
      state = { kind: 'asleep', failure: why }
      throw cannot(500, why)
    }
  }
  const loaded = (): Loaded | undefined => (state.kind === 'loaded' ? state.loaded : undefined)
  return {
    get,
    start() {
      // A failure is kept in the state, for whoever asks next.
      get().catch(() => {})
    },
    loaded,
    failure: () => (state.kind === 'loaded' ? undefined : state.failure),
    async close() {
      const last = state.kind === 'loading' ? await state.loading.catch(() => undefined) : loaded()
      state = { kind: 'asleep', failure: undefined }
      await last?.engine.close()
    },
  }
}

async function load(
  { model, loadTokenizer, workerFile, cacheFolder }: ModelSource,
  generations: Serving['generations'],
  onGone: () => void,
): Promise<Loaded> {
  const tokenizer = await loadTokenizer()
  const vocabulary = vocabularyOf(tokenizer.tokenizer)
  const engine = await startEngine(workerFile, { model, cacheFolder, vocabulary, stopIds: tokenizer.stopIds }, onGone)
  const { vocabularySize, contextLength } = engine.facts
  const limits = { vocabularySize, contextLength, encode: tokenizer.tokenizer.encode }
  return { tokenizer, vocabulary, engine, limits, generations, loadedAt: Date.now() / 1000 }
}
