/** What goes between the server and the thread that checks trajectories, which is asked for keys. */

import type { Revision } from '#lib/store/health.ts'
import type { RecordIndex } from '#lib/store/listing/search-index.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { Health } from '#lib/trajectory/health/health.ts'

export interface HealthWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

/** Undefined: there is no such trajectory. `index`: undefined where the record cannot be read. */
export type Checked =
  | { readonly of: Revision; readonly health: Health; readonly index: RecordIndex | undefined }
  | undefined
