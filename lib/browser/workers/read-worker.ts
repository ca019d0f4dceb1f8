/** The worker that reads trajectories, because parsing 200,000 tokens would block a page for too long. */
import { createReadHost, type FromReader, type ToReader } from './read-host.ts'

const port = self as unknown as {
  postMessage(message: FromReader, transfer: readonly ArrayBuffer[]): void
  onmessage: (event: MessageEvent<ToReader>) => void
}
const receive = createReadHost((message, buffers) => port.postMessage(message, buffers))
port.onmessage = ({ data }) => receive(data)
