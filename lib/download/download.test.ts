import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { closeServer, listening } from '#testing/listening.ts'
import { type AllowedHosts, allowedHosts } from './allowed-hosts.ts'
import { DOWNLOAD_LIMITS, type DownloadLimits, downloadFile } from './download.ts'

const OWN = { host: '127.0.0.1', port: 3000, builtInPath: '/sglang' }
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await closeServer(server)
})

/** Starts a server on 127.0.0.1 that counts its requests. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  servers.push(server)
  const port = await listening(server)
  return { port, requests, url: `http://127.0.0.1:${port}/` }
}
const file = (text = '{}') => serving((_, response) => response.end(text))
const redirecting = (location: string, status = 302) =>
  serving((_, response) => response.writeHead(status, { location }).end('moved'))

const allowed = (...list: readonly (string | number)[]) =>
  allowedHosts(
    list.map((one) => (typeof one === 'number' ? `127.0.0.1:${one}` : one)),
    OWN,
  )
const { signal } = new AbortController()

/** Returns the name and the text of a downloaded file. */
async function downloaded(url: string, hosts: AllowedHosts, limits: Partial<DownloadLimits> = {}) {
  const { name, chunks } = await downloadFile(url, hosts, signal, { ...DOWNLOAD_LIMITS, ...limits })
  return { name, text: Buffer.concat(await Array.fromAsync(chunks)).toString() }
}

test('A file of a listed host is downloaded, with the last part of its path as its name', async () => {
  const { url, port } = await file('{"a": 1}')
  expect(await downloaded(`${url}runs/step%2012.jsonl?key=secret`, allowed(port))).toEqual({
    name: 'step 12.jsonl',
    text: '{"a": 1}',
  })
  expect((await downloaded(`http://localhost:${port}/`, allowed(`localhost:${port}`))).name).toBe(`localhost:${port}`)
})

test('a file of a host that is not listed is not requested, and the error names the variable', async () => {
  const { url, port, requests } = await file()
  for (const hosts of [allowed(), allowed('127.0.0.1'), allowed(port + 1), allowed('data.example')])
    await expect(downloaded(url, hosts)).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringContaining('ROLLSCOPE_OPEN_HOSTS'),
      hint: expect.stringContaining('ROLLSCOPE_OPEN_HOSTS'),
    })
  expect(requests).toEqual([])
})

test.each([
  ['file:///etc/passwd', 'is not http'],
  ['http://user:key@127.0.0.1/a', 'Rollscope sends none'],
  ['http://127.0.0.1:3000/api/trajectories', 'the address of Rollscope itself'],
  ['http://169.254.169.254/latest', 'link-local, metadata'],
  ['nonsense', 'not a URL; write it like https://example.org/rollouts.jsonl'],
])('The URL %s is refused before any request', async (url, why) => {
  await expect(downloaded(url, allowed('127.0.0.1', '127.0.0.1:3000'))).rejects.toMatchObject({
    reason: 'refused',
    message: expect.stringContaining(why),
  })
})

test('A redirect to a listed host is followed, without the fragment of its address', async () => {
  const target = await file('moved')
  const { url, port } = await redirecting(`${target.url}b.json#part`)
  expect(await downloaded(`${url}a.json`, allowed(port, target.port))).toEqual({ name: 'a.json', text: 'moved' })
  expect(target.requests[0]?.url).toBe('/b.json')
})

test('a redirect to a host that is not listed is not followed, and the error names the host', async () => {
  const target = await file()
  for (const status of [301, 302, 303, 307, 308]) {
    const { url, port } = await redirecting(target.url, status)
    await expect(downloaded(url, allowed(port))).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringContaining(`127.0.0.1:${target.port} is not one of the hosts in ROLLSCOPE_OPEN_HOSTS`),
    })
  }
  const metadata = await redirecting('http://169.254.169.254/')
  await expect(downloaded(metadata.url, allowed(metadata.port))).rejects.toMatchObject({ reason: 'refused' })
  expect(target.requests).toEqual([])
})

test('A redirect that never ends is given up', async () => {
  const { url, port, requests } = await redirecting('/again')
  await expect(downloaded(url, allowed(port))).rejects.toMatchObject({
    reason: 'failed',
    message: expect.stringContaining('redirects more than 5 times'),
  })
  expect(requests).toHaveLength(6)
})

test('a listed name that resolves to a private address is not connected, unless its network is listed', async () => {
  const { port, requests } = await file()
  // Every name under localhost resolves to loopback, without a resolver.
  const hosts = (...networks: string[]) => allowed(`data.localhost:${port}`, ...networks)
  const url = `http://data.localhost:${port}/`
  const { refusedAddress } = hosts()
  expect(refusedAddress('127.0.0.1', 'data.localhost')).toContain('is a private address')
  expect(refusedAddress('::1', 'data.localhost')).toContain('is a private address')
  expect(refusedAddress('::ffff:10.0.0.1', 'data.localhost')).toContain('is a private address')
  expect(refusedAddress('93.184.216.34', 'data.localhost')).toBeUndefined()
  expect(hosts('10.0.0.0/8').refusedAddress('10.1.2.3', 'data.localhost')).toBeUndefined()
  expect(hosts('fc00::/7').refusedAddress('fd00::1', 'data.localhost')).toBeUndefined()
  expect(hosts('169.254.0.0/16').refusedAddress('169.254.169.254', 'data.localhost')).toContain('metadata')
  await expect(downloaded(url, hosts())).rejects.toMatchObject({ reason: expect.stringMatching(/refused|failed/) })
  expect(requests).toEqual([])
})

test('a download sends no token, cookie or referer, and reads no proxy variable', async () => {
  const proxy = await file()
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url)
  const { url, port, requests } = await file()
  await downloaded(url, allowed(port))
  expect(Object.keys(requests[0]?.headers ?? {}).sort()).toEqual(['accept-encoding', 'connection', 'host'])
  expect(proxy.requests).toEqual([])
})

describe('a download ends at its limit of', () => {
  test('announced bytes, before they are sent', async () => {
    const { url, port } = await file('x'.repeat(100))
    await expect(downloaded(url, allowed(port), { bytes: 99 })).rejects.toMatchObject({ reason: 'large' })
    expect((await downloaded(url, allowed(port), { bytes: 100 })).text).toHaveLength(100)
  })

  test('bytes that nobody announced', async () => {
    const { url, port } = await serving((_, response) => {
      response.write('x'.repeat(60))
      response.end('x'.repeat(60))
    })
    await expect(downloaded(url, allowed(port), { bytes: 99 })).rejects.toMatchObject({ reason: 'large' })
  })

  test('time, although bytes arrive', async () => {
    const { url, port } = await serving((_, response) => {
      const writing = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(writing))
    })
    await expect(downloaded(url, allowed(port), { longestMs: 100 })).rejects.toMatchObject({
      reason: 'failed',
      message: expect.stringContaining('did not send the whole file'),
    })
  })
})

test.each([
  [404, 'Rollscope sends no key'],
  [500, 'try again later'],
  [302, 'try again later'],
])('The status %i without a file is reported with what to do', async (status, hint) => {
  const { url, port } = await serving((_, response) => response.writeHead(status).end('no'))
  await expect(downloaded(url, allowed(port))).rejects.toMatchObject({
    reason: 'failed',
    message: expect.stringContaining(`answered with the status ${status}`),
    hint: expect.stringContaining(hint),
  })
})

test('A file that is cut off, and a server that is not there, are reported', async () => {
  const cut = await serving((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('x')
    setImmediate(() => response.destroy())
  })
  await expect(downloaded(cut.url, allowed(cut.port))).rejects.toMatchObject({ reason: 'failed' })
  const gone = await file()
  for (const server of servers.splice(0)) await closeServer(server)
  await expect(downloaded(gone.url, allowed(gone.port))).rejects.toMatchObject({
    reason: 'failed',
    message: expect.stringContaining('did not send the file'),
  })
})

test('A download that is aborted ends with the reason', async () => {
  const { url, port } = await serving((_, response) => response.write('x'))
  const leaving = new AbortController()
  const { chunks } = await downloadFile(url, allowed(port), leaving.signal)
  const reading = Array.fromAsync(chunks)
  leaving.abort()
  await expect(reading).rejects.toThrow('aborted')
})

test.each([
  'https://data.example',
  'a b',
  'user@host',
  'host:port',
  '10.0.0.0/99',
  'x/8',
  '169.254.169.254',
  '',
  ':80',
])('The entry %j of ROLLSCOPE_OPEN_HOSTS is refused when Rollscope starts', (entry) => {
  expect(() => allowed(entry)).toThrow()
})

test('Entries of ROLLSCOPE_OPEN_HOSTS allow a host at its port, in any spelling', () => {
  const { refusedUrl } = allowed('Data.Example', 'other:8443', '[2001:db8::1]:8080')
  for (const url of [
    'https://data.example/a',
    'http://DATA.example:80/a',
    'http://data.example./a',
    'https://other:8443/a',
    'http://[2001:db8:0::1]:8080/a',
  ])
    expect([url, refusedUrl(url)]).toEqual([url, undefined])
  for (const url of [
    'https://data.example:8443/',
    'https://other/',
    'https://sub.data.example/',
    'http://[2001:db8::1]/',
  ])
    expect(refusedUrl(url)).toContain('is not one of the hosts')
})
