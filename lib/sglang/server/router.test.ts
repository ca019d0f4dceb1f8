import { describe, expect, onTestFinished, test } from 'vitest'
import { recording, scripted } from '#testing/sglang/recordings.ts'
import { type RouterWorker, startScriptedRouter } from '#testing/sglang/router.ts'
import { createClient } from '../client/client.ts'
import { droppedByRouter } from './router.ts'

const router = { kind: 'router' } as const
const sampling = { temperature: 1, logit_bias: { 5: 1 }, stop_regex: ['a+'] }
const names = (problems: ReturnType<typeof droppedByRouter>) => problems.map(({ column }) => column)

test('parameters that a router drops are noted; those that pass, or reach a server directly, are not', () => {
  expect(names(droppedByRouter(router, sampling, { kind: 'length' }))).toEqual(['logit_bias', 'stop_regex'])
  expect(droppedByRouter(router, { temperature: 1, stop: ['x'] }, { kind: 'length' })).toEqual([])
  expect(droppedByRouter({ kind: 'server' }, sampling, { kind: 'length' })).toEqual([])
})

test('a reply that ended at a stop pattern shows that the router passed the pattern on', () => {
  expect(names(droppedByRouter(router, sampling, { kind: 'stop', matched: 'a+' }))).toEqual(['logit_bias'])
  expect(names(droppedByRouter(router, sampling, { kind: 'stop', matched: 7 }))).toEqual(['logit_bias', 'stop_regex'])
})

describe('a router whose first worker is dead', () => {
  const worker = (name: string, weights: string): RouterWorker => ({
    model: {
      model_path: '/models/tiny',
      served_model_name: name,
      tokenizer_path: '/models/tiny-tokenizer',
      weight_version: weights,
      tool_call_parser: 'qwen',
    },
    ids: [],
  })
  const never = new AbortController().signal
  async function start(first: RouterWorker, second: RouterWorker) {
    const router = await startScriptedRouter([first, second])
    const client = createClient({ baseUrl: router.baseUrl, apiKey: undefined })
    onTestFinished(router.close)
    onTestFinished(() => client.close())
    return { router, client }
  }

  test('keeps its earlier description while its healthy workers serve that model', async () => {
    const { router, client } = await start(worker('tiny', '7'), worker('tiny', '7'))
    const before = await client.describe(never)
    expect(before).toMatchObject({ kind: 'router', modelName: 'tiny', tokenizerName: '/models/tiny-tokenizer' })
    router.killFirst()
    expect(await client.describe(never)).toEqual({ ...before, latencyMs: expect.any(Number) })
    router.dropDead()
    expect((await client.describe(never)).workers?.map(({ isHealthy }) => isHealthy)).toEqual([false, true])
  })

  test('is described by a healthy worker’s report if nothing was known before', async () => {
    const { router, client } = await start(worker('tiny', '7'), worker('tiny', '7'))
    router.killFirst()
    expect(await client.describe(never)).toMatchObject({
      kind: 'router',
      modelName: 'tiny',
      tokenizerName: '/models/tiny',
      workers: [{ isHealthy: true }, { isHealthy: true }],
    })
  })

  test('is described by its healthy worker if that serves another model than before', async () => {
    const { router, client } = await start(worker('tiny', '7'), worker('large', '1'))
    await client.describe(never)
    router.killFirst()
    const killed = await client.describe(never)
    expect(killed).toMatchObject({ modelName: 'tiny', weightVersion: '7' })
    router.dropDead()
    expect(await client.describe(never)).toMatchObject({ modelName: 'large', weightVersion: '1' })
  })

  test('a server that fails and has no workers fails as without a router', async () => {
    const server = await scripted((_incoming, response) => response.writeHead(500).end('no'))
    const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined })
    onTestFinished(server.close)
    onTestFinished(() => client.close())
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  test('no run begins if no worker is healthy', async () => {
    const workers = recording('router-get_workers').response as { workers: object[] }
    const dead = { workers: workers.workers.map((known) => ({ ...known, is_healthy: false })) }
    const server = await scripted(({ url }, response) => {
      response.writeHead(url === '/workers' ? 200 : 502, { 'content-type': 'application/json' })
      response.end(JSON.stringify(url === '/workers' ? dead : {}))
    })
    const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined })
    onTestFinished(server.close)
    onTestFinished(() => client.close())
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})
