import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
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
