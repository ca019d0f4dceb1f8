import { once } from 'node:events'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { createConnection } from './connection.ts'

const KEY = 'secret-of-the-server'

/** Returns a connection to a server that answers with these parts and status 500, and the headers that it gets. */
async function connected(parts: readonly string[]) {
  const received: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    received.push({ ...request.headers, url: request.url })
    response.writeHead(500, { 'content-type': 'text/plain', 'retry-after': '9' })
    for (const part of parts) {
      response.write(part)
      // Each part becomes a chunk of its own.
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  })
  const connection = createConnection({ baseUrl: await listeningUrl(server), apiKey: KEY })
  onTestFinished(() => closeServer(server))
  onTestFinished(() => connection.close())
  return { connection, received }
}

test.each([[[`a ${KEY} b`]], [['a secret-of', '-the-ser', 'ver b']], [['a ', KEY, ' b']]])(
  'An answer that is passed on to a client contains [key] in place of the key: %j',
  async (parts) => {
    const { connection, received } = await connected(parts)
    const answer = await connection.forward(
      { method: 'POST', path: '/echo', body: '{}', routingKey: 'ses_1' },
      new AbortController().signal,
    )
    const text = Buffer.concat(await Array.fromAsync(answer.chunks)).toString()
    expect([answer.status, answer.contentType, answer.retryAfter, text]).toEqual([500, 'text/plain', '9', 'a [key] b'])
    expect(received).toMatchObject([{ url: '/echo', authorization: `Bearer ${KEY}`, 'x-smg-routing-key': 'ses_1' }])
  },
)

/** Starts a server in another thread that answers when the first flag is 1, and sets the second one when its answer is sent. */
const SERVER_IN_THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const flags = new Int32Array(workerData)
const server = require('node:http').createServer((request, response) => {
  parentPort.postMessage('requested')
  Atomics.wait(flags, 0, 0)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}', () => {
    Atomics.store(flags, 1, 1)
    Atomics.notify(flags, 1)
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

test('A status that arrived while this process was busy for longer than its time limit is used', async () => {
  const flags = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(SERVER_IN_THREAD, { eval: true, workerData: flags.buffer })
  onTestFinished(() => void worker.terminate())
  const [port] = await once(worker, 'message')
  const startTimer = setTimeout
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const connection = createConnection({ baseUrl: `http://127.0.0.1:${port}`, apiKey: undefined })
  onTestFinished(() => connection.close())
  const status = connection.info('/model_info', z.object({}), new AbortController().signal)
  await once(worker, 'message')
  await new Promise<void>((resolve) =>
    // A time limit ends in a timer.
    startTimer(() => {
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
      Atomics.wait(flags, 1, 0)
      vi.advanceTimersByTime(60_000)
      resolve()
    }, 0),
  )
  expect(await status).toEqual({})
})
