/**
 * Readers of event streams that stop reading, in a process of Python: their receive buffers and segments are as small as
 * those of a client across a network, which Node cannot set. Needs `python3`.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'

interface Options {
  readonly base: string
  readonly token: string
  /** A reader of each of these rollouts. */
  readonly rollouts: readonly string[]
  /** Size that the receive buffer of a reader is set to; null: as large as the kernel makes it. */
  readonly receiveBytes: number | null
  /** Largest segment of TCP; null: that of the loopback device. */
  readonly segmentBytes: number | null
}

/** What a reader got when it read on. */
export interface ReadOn {
  /** told: the stream ended with a reason. cut off: the connection ended within the stream. */
  readonly end: 'told' | 'cut off' | 'complete'
  /** Number of lines before the end. */
  readonly received: number
  /** Number of the next line by the last line of the stream; null if it had none. */
  readonly next: number | null
  /** Status of the request for the later lines; 200 without one. */
  readonly status: number
  /** Number and SHA-256 of all lines. */
  readonly lines: number
  readonly hash: string
}

/** Readers that have received the headers of their streams, and read nothing more. */
export interface NetworkReaders {
  /** Lets these readers read to the end of their streams and request the later lines. */
  readOn(indices: readonly number[]): Promise<readonly ReadOn[]>
  close(): void
}

/** Opens the streams. Rejects if one is refused. */
export async function openNetworkReaders({ base, ...options }: Options): Promise<NetworkReaders> {
  const { hostname, port } = new URL(base)
  const child = spawn('python3', [path.join(import.meta.dirname, 'network_readers.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = async (value: object): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(value)}\n`)
    const { done, value: line } = await answers.next()
    if (done) throw new Error('the readers have ended')
    return JSON.parse(line)
  }
  await send({ ...options, host: hostname, port: Number(port) })
  return {
    readOn: (indices) => send(indices) as Promise<readonly ReadOn[]>,
    close: () => child.stdin.end(),
  }
}
