/** Runs in the thread that checks stored trajectories. */

import { recordIndex } from '#lib/store/listing/search-index.ts'
import { openPackedWriter, type PackedWriter } from '#lib/store/packed.ts'
import { openTrajectoryReader } from '#lib/store/record.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { answerRequests } from '../limited-thread.ts'
import { type HealthResult, type HealthWorkerStart, uncheckedHealth } from './health-worker-messages.ts'
import { storedHealth } from './stored-health.ts'

answerRequests<HealthWorkerStart, string, HealthResult>(({ dataFolder, tokenizers: places }) => {
  const reader = openTrajectoryReader(dataFolder)
  const packing = openPackedWriter(dataFolder)
  const tokenizers = createTokenizerLoader(places)
  return async (key) => {
    const stored = reader.read(key)
    if (typeof stored?.found === 'object') pack(packing, key, stored.of, stored.found)
    return (
      stored && {
        of: stored.of,
        index: typeof stored.found === 'string' ? undefined : recordIndex(stored.found),
        health: await storedHealth(stored.found, tokenizers).catch((error: unknown) =>
          uncheckedHealth('not checked', `It could not be checked: ${error instanceof Error ? error.message : error}`),
        ),
      }
    )
  }
})

/** Stores the packed copy. Its failure, such as a full disk, does not concern the check: the record itself is read then. */
function pack(packing: PackedWriter, ...copy: Parameters<PackedWriter['write']>): void {
  try {
    packing.write(...copy)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    console.error('a packed copy could not be stored:', error.message)
  }
}
