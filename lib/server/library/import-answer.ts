/** What goes between the server and the thread that imports files. */
import type { Imported } from '#lib/api/imported.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { Refusal } from '../http/refusal.ts'

export interface ImportWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

export interface ImportQuestion {
  /** Of the open file. Threads share the descriptors of their process. */
  readonly descriptor: number
  /** In bytes. */
  readonly size: number
  /** undefined: it has none. */
  readonly name: string | undefined
  /** undefined: the first record tells. */
  readonly format: string | undefined
  /** undefined: texts that are not in the file stay unknown. */
  readonly tokenizer: string | undefined
  readonly parser: string
}

export type ImportAnswer = { readonly kind: 'imported'; readonly imported: Imported } | Refusal
