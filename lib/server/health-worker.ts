/** The thread that checks stored trajectories. */
import { parentPort, workerData } from 'node:worker_threads'
import { openTrajectoryReader } from '#lib/store/record.ts'
import { createTokenizerLoader } from '#lib/tokenizer/load.ts'
import type { FromHealthWorker, HealthWorkerStart, ToHealthWorker } from './health-worker-messages.ts'
import { storedHealth, unchecked } from './stored-health.ts'

if (!parentPort) throw new Error('health-worker.ts is run as a worker thread')
const port = parentPort
const { dataFolder, tokenizers: places } = workerData as HealthWorkerStart
const reader = openTrajectoryReader(dataFolder)
const tokenizers = createTokenizerLoader(places)

port.on('message', async ({ id, key }: ToHealthWorker) => {
  const stored = reader.read(key)
  const checked = stored && {
    of: stored.of,
    health: await storedHealth(stored.found, tokenizers).catch((error: unknown) =>
      unchecked('not checked', `It could not be checked: ${error instanceof Error ? error.message : error}`),
    ),
  }
  port.postMessage({ id, checked } satisfies FromHealthWorker)
})
