import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createHttpGateway, isSessionCall } from './http-gateway.ts'
import { answerWith } from './node-answer.ts'

const MEGABYTE = Buffer.alloc(1 << 20)
const opened: { destroy(): void }[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy()
})

/** Connects a client that reads no byte of the answer, and returns whether the server has closed its connection. */
async function unread(unreadMs: number, parts: readonly Buffer[]) {
  const state = { isClosed: false }
  const front = createHttpGateway({
    hosts: [],
    token: 'token',
    development: false,
    unreadMs,
    async handle(_request, response) {
      response.once('close', () => {
        state.isClosed = true
      })
      for (const part of parts) response.write(part)
    },
  })
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const { port } = front.address() as AddressInfo
  const client: Socket = connect(port, '127.0.0.1').on('error', () => {})
  const destroy = () => {
    front.closeAllConnections()
    front.close()
  }
  opened.push(client, { destroy })
  await once(client, 'connect')
  client.pause()
  client.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  return { state, client }
}

test('The gateway closes the connection of a client that leaves its answer unread', async () => {
  const { state } = await unread(20, new Array(64).fill(MEGABYTE))
  await expect.poll(() => state.isClosed).toBe(true)
})

test('The gateway keeps a connection on which nothing waits to be sent, even for longer than the limit of an unread answer', async () => {
  const quiet = await unread(20, [Buffer.from('a line\n')])
  const full = await unread(20, new Array(64).fill(MEGABYTE))
  await expect.poll(() => full.state.isClosed).toBe(true)
  await once(quiet.client.resume(), 'data')
  expect(quiet.state.isClosed).toBe(false)
})

test('The gateway answers an upgrade with nothing and does not connect to an absolute target', async () => {
  const front = createHttpGateway({ hosts: [], token: 'token', development: false, handle: async () => {} })
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const canary = createServer(() => {
    hits++
  })
  let hits = 0
  await once(canary.listen(0, '127.0.0.1'), 'listening')
  opened.push({ destroy: () => front.close() }, { destroy: () => canary.close() })
  const { port } = front.address() as AddressInfo
  for (const target of ['/', `http://127.0.0.1:${(canary.address() as AddressInfo).port}/`]) {
    const client = connect(port, '127.0.0.1')
    opened.push(client)
    let answer = ''
    client.on('data', (chunk) => {
      answer += chunk
    })
    client.on('error', () => {})
    client.write(
      `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    await once(client, 'close')
    expect([target, answer]).toEqual([target, ''])
  }
  expect(hits).toBe(0)
})

test.each(['/api/trajectories/%ff', '/t/%F0%9F', '/docs/%', '/api/trajectories/%zz'])(
  'The gateway refuses the target %s, whose percent-encoding is not UTF-8, and does not pass it on',
  async (target) => {
    let handled = 0
    const front = createHttpGateway({
      hosts: [],
      token: 'token',
      development: false,
      async handle(_request, response) {
        handled++
        response.end()
      },
    })
    opened.push({ destroy: () => front.close() })
    await once(front.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    const refused = await fetch(`${origin}${target}`)
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ code: 'TARGET_REFUSED' })])
    expect((await fetch(`${origin}/t/%C3%A9?q=%ff`)).status).toBe(200)
    expect(handled).toBe(1)
  },
)

test.each([
  ['lab.example', 'https://lab.example', 200],
  ['lab.example:8443', 'https://lab.example:8443', 200],
  ['lab.example', 'http://lab.example', 200],
  ['lab.example', 'https://lab.example:8443', 403],
  ['lab.example', 'https://127.0.0.1', 403],
  ['127.0.0.1', 'https://127.0.0.1', 403],
  ['LOCALHOST:3000', 'https://LOCALHOST:3000', 403],
  ['[::1]:3000', 'https://[::1]:3000', 403],
  ['[::1]:3000', 'http://[::1]:3000', 200],
])(
  'The gateway behind a proxy with TLS answers a call to the host %s from a page of %s with %d',
  async (host, origin, status) => {
    const url = await answering(async () => new Response(), ['lab.example', '127.0.0.1'])
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    request(`${url}/api/servers`, { method: 'POST', headers: { host, origin } }, (answer) =>
      resolve(answer.resume().statusCode),
    ).end()
    expect(await promise).toBe(status)
  },
)

test('The gateway ends a connection whose headers do not arrive within 10 s', () => {
  const front = createHttpGateway({ hosts: [], token: 'token', development: false, handle: async () => {} })
  expect(front.headersTimeout).toBe(10_000)
})

test.each<[method: string, url: string, headers: Record<string, string>, isCall: boolean]>([
  ['POST', '/sessions', {}, true],
  ['GET', '/sessions', { accept: '*/*' }, false],
  ['GET', '/sessions/ses_1', { accept: 'text/html,*/*' }, false],
  ['GET', '/sessions/ses_1', { accept: '*/*', rsc: '1' }, false],
  ['GET', '/sessions/ses_1?_rsc=x', { accept: '*/*', rsc: '1' }, false],
  ['GET', '/sessions/ses_1', { accept: 'application/json' }, true],
  ['GET', '/sessions/ses_1', {}, true],
  ['DELETE', '/sessions/ses_1', { accept: 'text/html' }, true],
  ['POST', '/sessions/ses_1/v1/chat/completions', { accept: '*/*' }, true],
  ['GET', '/sessions/ses_1/v1/models', { accept: 'text/html' }, true],
  ['GET', '/sessions-of-others', {}, false],
  ['GET', '/t/sessions', {}, false],
])('The gateway knows whether %s %s with %j is a call of a session', (method, url, headers, isCall) => {
  expect(isSessionCall({ method, url, headers })).toBe(isCall)
})

/** Starts a gateway whose requests a function answers. */
async function answering(
  handle: (request: Request) => Promise<Response>,
  hosts: readonly string[] = [],
): Promise<string> {
  const front = createHttpGateway({
    hosts,
    token: 'token',
    development: false,
    handle: (request, response) => answerWith(handle, request, response),
  })
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const destroy = () => {
    front.closeAllConnections()
    front.close()
  }
  opened.push({ destroy })
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

test('A call that is answered before its body is read leaves the connection to the next call', async () => {
  const address = new URL(await answering(async () => new Response('refused', { status: 404 })))
  const client: Socket = connect(Number(address.port), '127.0.0.1')
  opened.push(client)
  const answers: string[] = []
  client.on('data', (data) => answers.push(...String(data).split('HTTP/1.1 ').slice(1)))
  const body = 'x'.repeat(1 << 20)
  const call = `POST /sessions/a/v1/messages HTTP/1.1\r\nhost: ${address.host}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  client.write(call)
  await vi.waitFor(() => expect(answers).toHaveLength(1))
  client.write(call)
  await vi.waitFor(() => expect(answers).toHaveLength(2))
})

test('A function answers the calls of sessions that the gateway accepts, with their method, headers and body', async () => {
  const address = await answering(async (request) =>
    Response.json(
      { url: request.url, key: request.headers.get('x-api-key'), text: await request.text() },
      { status: 201 },
    ),
  )
  const response = await fetch(`${address}/sessions/a/v1/messages?b=c`, {
    method: 'POST',
    headers: { 'x-api-key': 'k' },
    body: 'text',
  })
  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({ url: `${address}/sessions/a/v1/messages?b=c`, key: 'k', text: 'text' })
  const foreign = { method: 'POST', headers: { origin: 'http://evil.example' }, body: '{}' }
  expect((await fetch(`${address}/sessions/a/v1/messages`, foreign)).status).toBe(403)
})

test('A client that closes its connection aborts the request of the function that answers it', async () => {
  const aborted = Promise.withResolvers<void>()
  const address = await answering(async (request) => {
    request.signal.addEventListener('abort', () => aborted.resolve())
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('a')) }))
  })
  const left = new AbortController()
  const response = await fetch(`${address}/sessions/a/v1/responses`, {
    method: 'POST',
    body: '{}',
    signal: left.signal,
  })
  expect(response.status).toBe(200)
  left.abort()
  await aborted.promise
})

/** Sends a request with a body of 32 MB, reads the answer only when all of it is sent, and returns the answer. */
async function answerToWholeBody(address: string, headers: string): Promise<string> {
  const client: Socket = connect(Number(new URL(address).port), '127.0.0.1')
  opened.push(client)
  client.pause()
  const part = `${MEGABYTE.length.toString(16)}\r\n${MEGABYTE}\r\n`
  client.write(`POST /sessions/a/v1/messages HTTP/1.1\r\n${headers}transfer-encoding: chunked\r\n\r\n`)
  for (let n = 0; n < 32; n++) await new Promise((resolve) => client.write(part, resolve))
  client.write('0\r\n\r\n')
  const [answer] = await once(client.resume(), 'data')
  return String(answer)
}

const unreadBody = async () => new Response('refused', { status: 413 })
async function beginningOfBody(request: Request) {
  for await (const _ of request.body ?? []) break
  return new Response('refused', { status: 413 })
}

test.each<[string, string, (request: Request) => Promise<Response>, string]>([
  ['of a foreign host', '403', unreadBody, 'host: evil.example\r\n'],
  ['whose handler reads no body', '413', unreadBody, 'host: localhost\r\n'],
  ['whose handler reads the beginning of the body', '413', beginningOfBody, 'host: localhost\r\n'],
  ['that closes its connection', '413', unreadBody, 'host: localhost\r\nconnection: close\r\n'],
  [
    'that closes its connection after its beginning was read',
    '413',
    beginningOfBody,
    'host: localhost\r\nconnection: close\r\n',
  ],
])('A client %s gets the refusal after it has sent its whole body', async (_, status, handle, headers) => {
  expect(await answerToWholeBody(await answering(handle), headers)).toContain(`HTTP/1.1 ${status} `)
})
