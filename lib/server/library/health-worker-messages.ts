/** Messages between the server and the thread that checks trajectories, which receives keys. */

import type { RecordRevision } from '#lib/store/health.ts'
import type { RecordIndex } from '#lib/store/listing/search-index.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { Health } from '#lib/trajectory/health/health.ts'

/** Data that the health thread receives when it starts. */
export interface HealthWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

/** The result for one key. Undefined if there is no such trajectory; `index` is undefined if the record cannot be read. */
export type HealthResult =
  | { readonly of: RecordRevision; readonly health: Health; readonly index: RecordIndex | undefined }
  | undefined

/** Returns the health of a trajectory that could not be checked. It is stored too, so that the check is not repeated again and again. */
export const uncheckedHealth = (label: string, message: string): Health => ({
  findings: [
    {
      kind: 'unreadable',
      severity: 'error',
      label,
      message,
      count: 1,
      places: [],
    },
  ],
  checks: [],
})
