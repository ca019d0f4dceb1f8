import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { scripted } from '#testing/sglang/recordings.ts'
import { checkedFetch } from './checked-connector.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that counts its requests and answers each with `status` and `location`. */
async function listening(status = 200, location = '') {
  const seen = { requests: 0 }
  const server = createServer((_request, response) => {
    seen.requests++
    response.writeHead(status, { location }).end('answer')
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('the connector ignores proxy variables and connects directly', async () => {
  const proxy = await listening()
  const { url, seen } = await listening()
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])
    vi.stubEnv(name, name.startsWith('NODE') ? '1' : proxy.url)
  expect(await (await checkedFetch(5_000)(url)).text()).toBe('answer')
  expect([seen.requests, proxy.seen.requests]).toEqual([1, 0])
})

test('a redirect is an error, and its target is not called', async () => {
  const target = await listening()
  const { url } = await listening(307, target.url)
  await expect(checkedFetch(5_000)(url)).rejects.toThrow()
  expect(target.seen.requests).toBe(0)
})

test.each(['http://169.254.169.254/', 'http://[::ffff:a9fe:a9fe]/', 'http://0/'])(
  'the connector opens no connection to %s',
  async (url) => {
    await expect(checkedFetch(5_000)(url)).rejects.toMatchObject({ cause: { code: 'ADDRESS_REFUSED' } })
  },
)

const BOMB = Buffer.alloc(10_000_000)

test.each([
  ['gzip', gzipSync(BOMB)],
  ['deflate', deflateSync(BOMB)],
  ['br', brotliCompressSync(BOMB)],
])('the client requests no compression and refuses a response in %s', async (encoding, body) => {
  const asked: unknown[] = []
  const server = await scripted((request, response) => {
    asked.push(request.headers['accept-encoding'])
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
    response.end(body)
  })
  onTestFinished(server.close)
  await expect(checkedFetch(5_000)(server.baseUrl)).rejects.toMatchObject({
    code: 'BAD_ENCODING',
    message: `the server sent ${encoding} data although the request accepts none`,
  })
  expect(asked).toEqual(['identity'])
})

test('a plain response is read together with its headers', async () => {
  const server = await scripted((request, response) => response.end(request.headers['x-mine']))
  onTestFinished(server.close)
  const reply = await checkedFetch(5_000)(server.baseUrl, { headers: { 'x-mine': 'yes' } })
  expect(await reply.text()).toBe('yes')
})
