/** What goes between the server and the thread that imports files. */

import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
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

export interface Imported {
  /** Name of the format found. */
  readonly format: string
  /** Keys, in the order of the file. */
  readonly trajectories: readonly string[]
  /** How many of them were in the library before. */
  readonly existing: number
  /** What the first is called and when it was made: given here where its record says neither. */
  readonly first: Pick<Trajectory, 'id' | 'createdAt'>
  /** What the file did not say, over all of its trajectories. */
  readonly lacked: readonly string[]
}

export type ImportAnswer = { readonly kind: 'imported'; readonly imported: Imported } | Refusal
