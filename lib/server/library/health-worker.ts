/** Runs in the thread that checks stored trajectories. */

import { recordIndex } from '#lib/store/listing/search-index.ts'
import { openTrajectoryReader } from '#lib/store/record.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { answerRequests } from '../limited-thread.ts'
import type { Checked, HealthWorkerStart } from './health-worker-messages.ts'
import { storedHealth, unchecked } from './stored-health.ts'

answerRequests<HealthWorkerStart, string, Checked>(({ dataFolder, tokenizers: places }) => {
  const reader = openTrajectoryReader(dataFolder)
  const tokenizers = createTokenizerLoader(places)
  return async (key) => {
    const stored = reader.read(key)
    return (
      stored && {
        of: stored.of,
        index: typeof stored.found === 'string' ? undefined : recordIndex(stored.found),
        health: await storedHealth(stored.found, tokenizers).catch((error: unknown) =>
          unchecked('not checked', `It could not be checked: ${error instanceof Error ? error.message : error}`),
        ),
      }
    )
  }
})
