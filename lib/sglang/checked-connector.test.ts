import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { checkedFetch } from './checked-connector.ts'

const servers: Server[] = []
afterEach(() => {
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

test('proxy variables change nothing: an address is connected to directly', async () => {
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
  'no connection is made to %s',
  async (url) => {
    await expect(checkedFetch(5_000)(url)).rejects.toMatchObject({ cause: { code: 'ADDRESS_REFUSED' } })
  },
)
