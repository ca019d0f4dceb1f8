import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError } from '../api.ts'
import type { ReaderWorker } from '../workers/reader.ts'

/** Returns an example that comes with the application. Throws ApiError, which lists the examples if none has this name, or the signal's reason. */
export const readExample = (
  reader: Pick<ReaderWorker, 'call'>,
  name: string,
  signal: AbortSignal,
): Promise<TrajectoryView> =>
  reader.call(`/examples/${encodeURIComponent(name)}.json`, signal).catch(async (error: unknown) => {
    const isUnknown = error instanceof ApiError && error.status === 404
    throw isUnknown ? (await import('./examples.ts')).unknownExample(name) : error
  })
