/** The worker that reads a file record by record. */
import { createRecordHost, type FromRecordWorker, type ToRecordWorker } from './record-host.ts'

const port = self as unknown as {
  postMessage(message: FromRecordWorker, transfer: readonly ArrayBuffer[]): void
  onmessage: (event: MessageEvent<ToRecordWorker>) => void
}
const receive = createRecordHost((message, buffers) => port.postMessage(message, buffers))
port.onmessage = ({ data }) => receive(data)
