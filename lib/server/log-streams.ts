/** Keeps the process running if its log cannot be written: the log is standard output and standard error, which may be full or closed. */
import type { Writable } from 'node:stream'

/**
 * Ignores errors of writing to these streams from now on, such as a full disk (ENOSPC) or a reader that has left (EPIPE). Without a
 * listener, such an error would be an uncaught exception of the process.
 */
export function ignoreWriteErrors(streams: readonly Writable[]): void {
  for (const stream of streams) stream.on('error', () => {})
}
