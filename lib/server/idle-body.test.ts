/** Tests bodies that stop arriving, at the HTTP server in front of Next with a handler that reads them as a route does. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { createHttpGateway } from './http/http-gateway.ts'

let server: Server | undefined
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server?.closeAllConnections()
  server?.close()
})

/** Starts a server and returns its port. The handler awaits `before` and then reads the body. */
async function listening(idleBodyMs: number, before: () => Promise<unknown> = async () => {}): Promise<number> {
  server = createHttpGateway({
    hosts: [],
    token: 'token',
    development: false,
    idleBodyMs,
    async handle(request, response) {
      if (request.url === '/api/health') return void response.end('ok')
      await before()
      const body = await text(request)
      response.end(`${body.length} characters`)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const head = (headers: string) =>
  `POST /api/import HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${headers}\r\n\r\n`

/** Sends only `sent` of a request; `answer` resolves with the bytes that arrive until the server closes. */
function begin(port: number, sent: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.write(sent)
  socket.on('error', () => {})
  sockets.push(socket)
  const answer = text(socket)
  // A test may leave an answer unread; its rejection is ignored then.
  answer.catch(() => {})
  return { socket, answer }
}

test.each([
  ['with a length', head('content-length: 100')],
  ['in chunks', `${head('transfer-encoding: chunked')}5\r\nhello\r\n`],
])('A body %s that stops arriving is answered with 408, its name and its advice', async (_, sent) => {
  const { answer } = begin(await listening(50), sent)
  const got = await answer
  expect(got).toMatch(/^HTTP\/1\.1 408 /)
  expect(JSON.parse(got.slice(got.indexOf('{'), got.lastIndexOf('}') + 1))).toMatchObject({
    status: 408,
    code: 'BODY_TIMEOUT',
    detail: 'no part of the body has arrived for 0.05 s',
    hint: expect.any(String),
  })
})

test('A body that arrives slowly but never stops is read completely', async () => {
  const { socket, answer } = begin(await listening(100), head('content-length: 12'))
  for (let n = 0; n < 12; n++) {
    socket.write('x')
    await delay(20)
  }
  expect(await answer).toContain('12 characters')
})

test('A body that the application reads slowly does not count as one that stopped', async () => {
  const read = Promise.withResolvers<void>()
  const { answer } = begin(
    await listening(20, () => read.promise),
    `${head('content-length: 200000')}${'x'.repeat(100_000)}`,
  )
  const first = await Promise.race([answer, delay(200, 'waits')])
  expect(first).toBe('waits')
  read.resolve()
  // All bytes that arrived are read now, and the rest never arrives.
  expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
})

test('A stream of events without a body may be silent for longer than the limit', async () => {
  const release = Promise.withResolvers<void>()
  const { answer } = begin(
    await listening(20, () => release.promise),
    'GET /api/rollouts/x/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
  )
  await delay(100)
  release.resolve()
  expect(await answer).toContain('0 characters')
})

test('Two hundred bodies that have stopped do not keep another request from its answer', async () => {
  const port = await listening(60_000)
  const slow = Array.from({ length: 200 }, () => begin(port, `${head('content-length: 100')}x`))
  await Promise.all(slow.map(({ socket }) => once(socket, 'connect')))
  expect(await (await fetch(`http://127.0.0.1:${port}/api/health`)).text()).toBe('ok')
  expect(slow.every(({ socket }) => !socket.closed)).toBe(true)
})
