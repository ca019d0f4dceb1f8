/** Requests to the thread that imports files. */
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'

/** Data that the importing thread receives when it starts. */
export interface ImportWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

/** A request to import one received file. */
export interface ImportQuestion {
  /** Descriptor of the open file. Threads share the descriptors of their process. */
  readonly descriptor: number
  /** Size in bytes. */
  readonly size: number
  /** Name of the file; undefined if it has none. */
  readonly name: string | undefined
  /** Name of the format; undefined: the first record decides. */
  readonly format: string | undefined
  /** Name of the tokenizer; undefined: texts that are not in the file stay unknown. */
  readonly tokenizer: string | undefined
  readonly parser: string | undefined
}
