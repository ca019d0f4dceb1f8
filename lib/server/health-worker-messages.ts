/** What goes between the server and the thread that checks trajectories. */
import type { Health } from '#lib/core/health.ts'
import type { Revision } from '#lib/store/health.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/load.ts'

export interface HealthWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

export interface ToHealthWorker {
  readonly id: number
  readonly key: string
}

export interface FromHealthWorker {
  readonly id: number
  /** Undefined: there is no such trajectory. */
  readonly checked: { readonly of: Revision; readonly health: Health } | undefined
}
