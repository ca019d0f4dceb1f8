/** Tests the real sglang-router in front of two scripted workers, one of which dies. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { EngineClient } from '#lib/engine/engine.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { replyOf, streamPrompt, VOCABULARY } from '#testing/sglang/stream-server.ts'
import { type Running, startRouter } from '../set-up/processes.ts'

const never = new AbortController().signal
const MODEL = { model_path: 'tiny', tokenizer_path: 'tiny-tokenizer', weight_version: '7', tool_call_parser: 'qwen' }

/** Streams a reply until its client leaves. */
class Worker {
  readonly name: string
  readonly server: Server
  closedStreams = 0
  constructor(name: string) {
    this.name = name
    this.server = createServer(async (incoming, response) => {
      let text = ''
      for await (const part of incoming) text += part
      const json = (value: unknown) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (incoming.url === '/health') return response.end()
      if (incoming.url?.endsWith('model_info')) return json({ ...MODEL, served_model_name: name })
      if (incoming.url?.endsWith('server_info')) return json({ ...MODEL, served_model_name: name, version: '0.5.23' })
      if (incoming.url !== '/generate') return response.writeHead(404).end()
      response.on('close', () => {
        if (!response.writableFinished) this.closedStreams++
      })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // The router only notices that its client has left when it passes on the next chunk.
      for (let to = 1; !response.destroyed; to++) {
        response.write(`data: ${JSON.stringify(replyOf(JSON.parse(text), 0, to))}\n\n`)
        await setTimeout(20)
      }
    })
  }
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }
  stop(): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}

const workers = [new Worker('one'), new Worker('two')]
let router: Running
let client: EngineClient
beforeAll(async () => {
  const addresses: string[] = []
  for (const worker of workers) addresses.push(await worker.start())
  router = await startRouter(inject('places').peers, ...addresses)
  client = createClient({ baseUrl: router.baseUrl, apiKey: undefined })
})
afterAll(async () => {
  await client.close()
  await router.stop()
  for (const worker of workers) worker.stop()
})

test('the real router in front of a dead first worker is described, and a cancelled stream through it keeps its tokens', async () => {
  const before = await client.describe(never)
  expect(before).toMatchObject({ kind: 'router', tokenizerName: 'tiny-tokenizer', toolCallParser: 'qwen' })
  const first = workers.find(({ name }) => name === before.modelName)
  first?.stop()
  expect(await client.describe(never)).toEqual({ ...before, latencyMs: expect.any(Number) })
  const fresh = createClient({ baseUrl: router.baseUrl, apiKey: undefined })
  expect(await fresh.describe(never)).toMatchObject({ kind: 'router', tokenizerName: 'tiny' })
  await fresh.close()

  const cancelled = new AbortController()
  const request = {
    inputIds: streamPrompt(3),
    sampling: { max_new_tokens: 1000 },
    rid: 'r'.repeat(32),
    stream: true,
    topLogprobsNum: 0,
    vocabularySize: VOCABULARY,
  }
  let received = 0
  const reading = async () => {
    for await (const { tokens } of client.generate(request, cancelled.signal)) {
      received += tokens.ids.length
      if (received >= 5) cancelled.abort(new Error('cancelled'))
    }
  }
  await expect(reading()).rejects.toThrow('cancelled')
  await expect.poll(() => workers.map(({ closedStreams }) => closedStreams).toSorted()).toEqual([0, 1])
})
