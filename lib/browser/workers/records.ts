/** Yields the records of a file, each of which a worker reads when it is requested. */
import { FileError } from '../files/file-error.ts'
import type { FileRecord, FromRecordWorker, ToRecordWorker } from './record-host.ts'

type RecordWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

const inBrowser = (): RecordWorker =>
  // Bundlers recognize exactly this expression.
  new Worker(new URL('./record-worker.ts', import.meta.url), { type: 'module' })

/** Yields the records. Throws FileError if the file cannot be read further, or the signal's reason. */
export async function* fileRecords(
  file: File,
  signal: AbortSignal,
  createWorker = inBrowser,
): AsyncGenerator<FileRecord> {
  const worker = createWorker()
  const post = (message: ToRecordWorker) => worker.postMessage(message)
  let giveUp = () => {}
  try {
    post({ kind: 'open', file })
    for (;;) {
      signal.throwIfAborted()
      const answer = await new Promise<FromRecordWorker>((resolve, reject) => {
        giveUp = () => reject(signal.reason)
        signal.addEventListener('abort', giveUp)
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = (event) => {
          event.preventDefault?.()
          resolve({ kind: 'failed', message: event.message || 'the page’s worker failed' })
        }
        post({ kind: 'next' })
      }).finally(() => signal.removeEventListener('abort', giveUp))
      if (answer.kind === 'end') return
      if (answer.kind === 'failed')
        throw new FileError(
          `${file.name} cannot be read: ${answer.message}`,
          'It was changed or moved since it was chosen, or one of its values is larger than this browser can hold: write it as JSON lines.',
        )
      yield answer.record
    }
  } finally {
    worker.terminate()
  }
}
