/** The worker that reads trajectories: parsing 200,000 tokens takes as long as a page may not stand still. */
import { createReadHost, type FromReader, type ToReader } from './read-host.ts'

const port = self as unknown as {
  postMessage(message: FromReader, transfer: readonly ArrayBuffer[]): void
  onmessage: (event: MessageEvent<ToReader>) => void
}
const receive = createReadHost((message, buffers) => port.postMessage(message, buffers))
port.onmessage = ({ data }) => receive(data)
