import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Recording, recording, replay } from '#testing/sglang/recordings.ts'
import { createEngineClient } from './engine-client.ts'

const never = new AbortController().signal
const of = (folder: string) => (name: string) =>
  JSON.parse(readFileSync(`lib/${folder}/recordings/${name}.json`, 'utf8')) as Recording
const llamacpp = of('llamacpp')
const vllm = of('vllm')

async function clientOf(recordings: Readonly<Record<string, Recording>>) {
  const server = await replay(recordings)
  const client = createEngineClient({ baseUrl: server.baseUrl, apiKey: undefined })
  onTestFinished(server.close)
  onTestFinished(() => client.close())
  return { client, paths: () => server.requests.map(({ path }) => path) }
}

describe('The engine of a server', () => {
  test('is SGLang if it has /model_info', async () => {
    const { client, paths } = await clientOf({ '/model_info': recording('info-get_model_info') })
    expect((await client.describe(never)).capabilities?.engine).toBe('sglang')
    expect(paths()).not.toContain('/props')
  })

  test('is llama.cpp if it has /props, and later calls use its paths', async () => {
    const { client, paths } = await clientOf({
      '/props': llamacpp('props'),
      '/lora-adapters': llamacpp('lora-adapters'),
      '/tokenize': llamacpp('tokenize'),
    })
    expect((await client.describe(never)).capabilities?.engine).toBe('llama.cpp')
    expect(await client.tokenize(['a<|im_end|>'], never)).toEqual([[73, 2]])
    await client.describe(never)
    const described = ['/props', '/lora-adapters']
    expect(paths()).toEqual(['/model_info', '/get_model_info', ...described, '/tokenize', ...described])
  })

  test('is found by the first call, even if nobody requested a description', async () => {
    const { client } = await clientOf({ '/props': llamacpp('props'), '/detokenize': llamacpp('detokenize') })
    expect(await client.detokenize([[2]], 'with special tokens', never)).toEqual(['<|im_end|>'])
  })

  test('is vLLM if its models are owned by vLLM, or another one that returns ids', async () => {
    const models = vllm('models')
    const completion = { '/v1/completions': vllm('completion-probe') }
    const { client, paths } = await clientOf({ '/v1/models': models, ...completion })
    expect((await client.describe(never)).capabilities?.engine).toBe('vllm')
    expect(paths().slice(0, 4)).toEqual(['/model_info', '/get_model_info', '/props', '/v1/models'])
    const other = { ...models, response: { data: [{ id: 'a' }] } }
    const found = await (await clientOf({ '/v1/models': other, ...completion })).client.describe(never)
    expect(found.capabilities?.engine).toBe('openai')
  })

  test('that returns no token ids is refused with that reason, not as an unknown server', async () => {
    const { client } = await clientOf({ '/v1/models': vllm('models') })
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'NO_TOKEN_IDS' })
  })

  test.each([
    ['/ready, which answers at once', { '/ready': recording('info-get_ready') }, 1],
    ['/health', { '/health': recording('info-get_health') }, 2],
    ['/health of vLLM', { '/health': vllm('health') }, 2],
    ['/v1/models, as Ollama and LM Studio have no path for their health', { '/v1/models': vllm('models') }, 3],
  ])('is ready by %s', async (_, recordings, requests) => {
    const { client, paths } = await clientOf(recordings)
    expect(await client.isReady(never)).toBe(true)
    expect(paths()).toHaveLength(requests)
  })

  test('is not ready while it answers 503, and unknown without any of these paths', async () => {
    const busy = { ...recording('info-get_health'), status: 503 }
    expect(await (await clientOf({ '/health': busy })).client.isReady(never)).toBe(false)
    await expect((await clientOf({})).client.isReady(never)).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' })
  })

  test('that refuses the list of its models is asked for its key, as vLLM, which guards only paths under /v1', async () => {
    const refused = { ...vllm('models'), status: 401, response: { error: 'Unauthorized' } }
    const { client } = await clientOf({ '/v1/models': refused })
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'UPSTREAM_AUTH', status: 401 })
  })

  test('that lists no model is refused because it returns no ids, as `transformers serve` with an empty cache', async () => {
    const { client } = await clientOf({ '/v1/models': { ...vllm('models'), response: { object: 'list', data: [] } } })
    await expect(client.describe(never)).rejects.toMatchObject({
      code: 'NO_TOKEN_IDS',
      message: 'the server’s /v1/models lists no model',
    })
  })

  test('that answers none of the paths is unknown', async () => {
    const { client } = await clientOf({})
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' })
  })
})
