/** Yields the records of a file, each of which a worker reads when it is requested. */

import { connectWorker } from '#lib/tasks/worker-protocol.ts'
import { FileError } from '../files/file-error.ts'
import { READ_ERRORS } from '../files/read-errors.ts'
import { type PageWorker, startPageWorker } from './port.ts'
import type { FileRecord, RecordRequest } from './record-host.ts'

const inBrowser = (): PageWorker =>
  // Bundlers recognize exactly this expression.
  new Worker(new URL('./record-worker.ts', import.meta.url), { type: 'module' })

/** Yields the records. Throws FileError if the file cannot be read further, or the signal's reason. */
export async function* fileRecords(
  file: File,
  signal: AbortSignal,
  createWorker = inBrowser,
): AsyncGenerator<FileRecord> {
  const worker = connectWorker<RecordRequest, FileRecord | undefined>(
    startPageWorker(createWorker),
    READ_ERRORS,
    () => {},
  )
  try {
    for (let request: RecordRequest = { file }; ; request = {}) {
      const record = await worker.send(request, { signal }).catch((error: Error) => {
        signal.throwIfAborted()
        if (error instanceof FileError) throw error
        throw new FileError(
          `${file.name} cannot be read: ${error.message || 'the page’s worker failed'}`,
          'The file was changed or moved after it was chosen, or one of its values is too large for this browser: write it as JSON lines.',
        )
      })
      if (!record) return
      yield record
    }
  } finally {
    void worker.end(new Error('the worker has ended'))
  }
}
