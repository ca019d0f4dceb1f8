import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createClient } from '#lib/sglang/client/client.ts'
import { replyOf, streamPrompt, VOCABULARY } from '#testing/sglang/stream-server.ts'
import { EngineError } from './http/errors.ts'
import { changeBetween, createIdentityWatch, type ServerIdentity } from './server-identity.ts'

const never = new AbortController().signal
const model = { modelName: 'm', tokenizerName: 't', weightVersion: '1' }

test.each<[string, ServerIdentity, string | undefined]>([
  ['the same', model, undefined],
  ['another tokenizer', { ...model, tokenizerName: 'u' }, 'its tokenizer was t and is u'],
  ['another model under the same weight version', { ...model, modelName: 'n' }, 'its model was m and is n'],
  ['new weights', { ...model, weightVersion: '2' }, undefined],
  ['new weights from a folder, which change the name too', { ...model, modelName: 'n', weightVersion: '2' }, undefined],
  ['nothing reported', {}, undefined],
])('server identity: %s', (_what, found, change) => {
  expect(changeBetween(model, found)).toBe(change)
})

test('the server’s identity is requested again only after a connection newer than the last answer', async () => {
  let connections = 1
  let asked = 0
  const watch = createIdentityWatch(
    async () => {
      asked++
      return model
    },
    () => connections,
  )
  watch.saw(model, 1)
  await watch.check(model, never)
  connections = 2
  await watch.check({}, never)
  expect(asked).toBe(0)
  await watch.check(model, never)
  await watch.check(model, never)
  expect(asked).toBe(1)
  await expect(watch.check({ ...model, tokenizerName: 'u' }, never)).rejects.toMatchObject({ code: 'SERVER_CHANGED' })
  expect(asked).toBe(1)
})

test('a server that does not answer the identity check counts as unchanged; a stopped one is reported', async () => {
  const silent = createIdentityWatch(
    async () => {
      throw new EngineError('HEADERS_TIMEOUT', 'silent')
    },
    () => 1,
  )
  await silent.check(model, never)
  const stopped = createIdentityWatch(
    async () => {
      throw new Error('stopped')
    },
    () => 1,
  )
  await expect(stopped.check(model, never)).rejects.toThrow('stopped')
})

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await stop(server)
})
const stop = (server: Server) => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}

/** Starts a server with this model, on a new port or on that of an earlier server. */
async function start(name: string, asks: string[], port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const part of incoming) text += part
    asks.push(`${name} ${incoming.url}`)
    response.setHeader('content-type', 'application/json')
    if (incoming.url === '/model_info') response.end(JSON.stringify({ model_path: name, tokenizer_path: name }))
    else if (incoming.url === '/generate') response.end(JSON.stringify(replyOf(JSON.parse(text), 0, 2)))
    else response.writeHead(404).end('{"detail":"Not Found"}')
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  servers.push(server)
  return { server, port: (server.address() as AddressInfo).port }
}

test('a restart with another model is noticed at the next call, and the same server is not asked at each call', async () => {
  const asks: string[] = []
  const first = await start('one', asks)
  const client = createClient({ baseUrl: `http://127.0.0.1:${first.port}`, apiKey: undefined, retry: { firstMs: 1 } })
  const expected = await client.describe(never)
  const call = async () => {
    const request = {
      inputIds: streamPrompt(3),
      sampling: { max_new_tokens: 2 },
      rid: 'r',
      stream: false,
      topLogprobsNum: 0,
      vocabularySize: VOCABULARY,
      expected,
    }
    for await (const { tokens } of client.generate(request, never)) expect(tokens.ids).toHaveLength(2)
  }
  for (let i = 0; i < 5; i++) await call()
  expect(asks.filter((line) => line === 'one /generate')).toHaveLength(5)
  expect(asks.filter((line) => line === 'one /model_info').length).toBeLessThanOrEqual(3)
  await stop(first.server)
  await start('one', asks, first.port)
  await call()
  await stop(servers.at(-1) as Server)
  await start('two', asks, first.port)
  await expect(call()).rejects.toMatchObject({
    code: 'SERVER_CHANGED',
    message: expect.stringContaining('its tokenizer was one and is two'),
  })
  await client.close()
})
