/** Tests the built-in server over Node’s own HTTP server: it receives a standard request and its answer is sent. */
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { LocalModel } from '#lib/builtin-server/local-model.ts'
import { answerFromLocalModel, isForLocalModel } from './builtin-server-node.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const LARGEST_BODY = 16 * 2 ** 20
const ACCESS = { hosts: [], token: 'launch-token' }

async function serve(handle: LocalModel['handle']): Promise<string> {
  server = createServer((request, response) => {
    answerFromLocalModel({ handle, largestBody: LARGEST_BODY }, request, response, ACCESS).catch(() =>
      response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([
  ['/sglang', true],
  ['/sglang/generate', true],
  ['/sglang?x=1', true],
  ['/sglangs', false],
  ['/', false],
  ['/api/health', false],
])('The path %s belongs to the built-in server: %s', (url, isForIt) => {
  expect(isForLocalModel({ url } as IncomingMessage)).toBe(isForIt)
})

test('The built-in server receives method, path, query, type and body; the client receives status, headers and body', async () => {
  const seen: unknown[] = []
  const base = await serve(async (request) => {
    const { pathname, search } = new URL(request.url)
    seen.push([request.method, pathname, search, request.headers.get('content-type'), await request.text()])
    return Response.json({ é: 1 }, { status: 418, headers: { allow: 'GET' } })
  })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${base}/sglang/v1/x?y=1`, { method: 'POST', headers, body: '{"ü":2}' })
  expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([418, 'GET', { é: 1 }])
  await fetch(`${base}/sglang`)
  expect(seen).toEqual([
    ['POST', '/v1/x', '?y=1', 'application/json', '{"ü":2}'],
    ['GET', '/', '', null, ''],
  ])
})

test('An endless body is read only until it can be refused, and the client gets the answer', async () => {
  const base = await serve(async (request) => Response.json((await request.arrayBuffer()).byteLength))
  const { promise, resolve } = Promise.withResolvers<number>()
  const sending = httpRequest(`${base}/sglang/generate`, { method: 'POST' }, async (answer) => {
    let text = ''
    for await (const part of answer) text += part
    resolve(Number(text))
    sending.destroy()
  })
  sending.on('error', () => {})
  const part = Buffer.alloc(2 ** 20)
  const send = (): void => {
    while (!sending.destroyed && sending.write(part));
  }
  sending.on('drain', send)
  send()
  const read = await promise
  expect(read).toBeGreaterThan(16 * 2 ** 20)
  expect(read).toBeLessThan(17 * 2 ** 20)
})

test('The built-in server learns whether the launch token came with a request', async () => {
  const base = await serve(async (_request, caller) => Response.json(caller))
  const ask = async (authorization?: string) =>
    (await fetch(`${base}/sglang/model_info`, { headers: { ...(authorization && { authorization }) } })).json()
  expect(await ask('Bearer launch-token')).toEqual({ hasToken: true })
  expect(await ask('Bearer another')).toEqual({ hasToken: false })
  expect(await ask()).toEqual({ hasToken: false })
})

test('A streamed answer arrives as it is written, and ends with the stream', async () => {
  const gate = Promise.withResolvers<void>()
  const base = await serve(async () => {
    const parts = ['a', 'b'.repeat(2 ** 20), 'c']
    return new Response(
      new ReadableStream({
        async pull(controller) {
          const part = parts.shift()
          if (part === undefined) return controller.close()
          if (part !== 'a') await gate.promise
          controller.enqueue(new TextEncoder().encode(part))
        },
      }),
    )
  })
  const reader = ((await fetch(`${base}/sglang/generate`)).body as ReadableStream<Uint8Array>).getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('a')
  gate.resolve()
  let length = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length
  expect(length).toBe(2 ** 20 + 1)
})

test('A client that leaves aborts the request and cancels the stream', async () => {
  const ended: string[] = []
  const base = await serve(async (request) => {
    request.signal.addEventListener('abort', () => ended.push('aborted'))
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel: () => void ended.push('cancelled'),
      }),
    )
  })
  const client = httpRequest(`${base}/sglang/generate`)
  client.on('response', (response) => response.once('data', () => client.destroy()))
  client.on('error', () => {})
  client.end()
  await expect.poll(() => ended.toSorted()).toEqual(['aborted', 'cancelled'])
})

test('A client that leaves within its body causes no error', async () => {
  let hasAsked = false
  const failures: unknown[] = []
  const arrived = Promise.withResolvers<void>()
  server = createServer((request, response) => {
    const handle = async () => {
      hasAsked = true
      return new Response(null)
    }
    answerFromLocalModel({ handle, largestBody: LARGEST_BODY }, request, response, ACCESS).then(
      () => failures.push(undefined),
      (error) => failures.push(error),
    )
    arrived.resolve()
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = httpRequest({ port, path: '/sglang/generate', method: 'POST', headers: { 'content-length': 99 } })
  client.on('error', () => {})
  client.write('{')
  await arrived.promise
  client.destroy()
  await expect.poll(() => failures).toEqual([undefined])
  expect(hasAsked).toBe(false)
})
