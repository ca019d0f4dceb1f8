/** The log is what the process prints. Where it goes may be full or gone, which must not stop what is logged about. */
import type { Writable } from 'node:stream'

/**
 * From now on an error in writing to one of the streams is ignored, such as a full disk (ENOSPC) or a reader that has left
 * (EPIPE). Without a listener it would be an uncaught exception of the process.
 */
export function ignoreWriteErrors(streams: readonly Writable[]): void {
  for (const stream of streams) stream.on('error', () => {})
}
