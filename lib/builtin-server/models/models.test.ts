/** Tests models besides the shipped one: their files, number formats and families, and the errors of models that cannot be served. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runBytes } from '#lib/builtin-server/engine/prefix-cache.ts'
import type { LocalModel, LocalModelOptions } from '#lib/builtin-server/local-model.ts'
import {
  createTestModel,
  eventsIn,
  loadModelTokenizer,
  MODEL_FOLDER,
  testClient,
} from '#lib/builtin-server/test-model.ts'
import { startTestHub, TEST_COMMIT, type TestRepository } from '#testing/hub.ts'
import { modelConfig } from './model-config.ts'

/** Graphs of 9 to 33 kB that imitate exports (test-models/make_models.py). */
const SEVERAL = path.resolve('lib/builtin-server/models/test-models/several')

let folder: string
const models: LocalModel[] = []
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-models-'))
})
afterEach(async () => {
  await Promise.all(models.splice(0).map((model) => model.close()))
})
afterAll(() => rm(folder, { recursive: true }))

function client(options: Partial<LocalModelOptions>) {
  const model = createTestModel(options)
  models.push(model)
  return { model, ...testClient(model) }
}

const GREEDY = { input_ids: [9, 300, 17], sampling_params: { max_new_tokens: 6, temperature: 0, ignore_eos: true } }

/** Returns why the model cannot be loaded. */
async function failure(options: Partial<LocalModelOptions>): Promise<string> {
  const response = await client(options).post('/generate', GREEDY)
  expect(response.status).toBe(500)
  return (await response.json()).message
}

async function copyOf(name: string, files: readonly string[]): Promise<string> {
  const place = path.join(folder, name)
  await mkdir(path.join(place, 'onnx'), { recursive: true })
  for (const file of files) await cp(path.join(SEVERAL, file), path.join(place, file))
  return place
}

const WHOLE = ['config.json', 'onnx/model.onnx', 'onnx/model.onnx_data']
const QUANTIZED = ['config.json', 'onnx/model_quantized.onnx']

describe('The number format of a model', () => {
  test('is the full precision unless another one is configured, and the server reports it', async () => {
    const whole = client({ model: SEVERAL })
    const small = client({ model: SEVERAL, dtype: 'q8' })
    const replies = [await whole.generate(GREEDY), await small.generate(GREEDY)]
    expect(replies[0]?.output_ids).toHaveLength(6)
    expect((await (await whole.get('/server_info')).json()).quantization).toBeNull()
    expect((await (await small.get('/server_info')).json()).quantization).toBe('q8')
  })

  test('is the first available one if the model lacks full precision', async () => {
    const model = await copyOf('small', QUANTIZED)
    expect((await (await client({ model }).get('/server_info')).json()).quantization).toBe('q8')
  })

  test.each(['fp32', 'fp16'] as const)('may be %s, in which the cache keeps its earlier values', async (dtype) => {
    const { generate, post } = client({ model: SEVERAL, dtype })
    const all = await generate(GREEDY)
    const next = { ...GREEDY, input_ids: [...GREEDY.input_ids, ...all.output_ids.slice(0, 3)] }
    const later = await generate(next)
    expect(later.output_ids.slice(0, 3)).toEqual(all.output_ids.slice(3))
    expect(later.meta_info.cached_tokens).toBe(5)
    await post('/flush_cache', '')
    expect((await generate(next)).output_ids).toEqual(later.output_ids)
  })

  test('of half precision doubles the tokens that fit into the cache', async () => {
    const held = async (dtype: 'fp32' | 'fp16'): Promise<number> => {
      const room = 40 * (2 * 4 * 2 + 4) + runBytes(2)
      const { generate } = client({ model: SEVERAL, dtype, capacity: { running: 1, waiting: 1, cacheBytes: room } })
      const prompt = { ...GREEDY, input_ids: Array.from({ length: 40 }, (_, index) => index + 9) }
      await generate({ ...prompt, sampling_params: { max_new_tokens: 0 } })
      return (await generate(prompt)).meta_info.cached_tokens
    }
    expect([await held('fp32'), await held('fp16')]).toEqual([0, 39])
  })

  test('that the model lacks is refused with the available ones', async () => {
    expect(await failure({ model: MODEL_FOLDER, dtype: 'q4' })).toContain('has no q4 (onnx/model_q4.onnx): it has fp32')
  })
})

describe('A model that cannot be served is refused with the reason:', () => {
  test.each([
    ['a folder without a configuration', ['onnx/model.onnx'], 'has no config.json'],
    ['a folder without a graph', ['config.json'], 'has no onnx/model.onnx, nor one of reduced numbers'],
    ['weights beside the graph that are not there', ['config.json', 'onnx/model.onnx'], 'model.onnx_data'],
  ])('%s', async (name, files, why) => {
    expect(await failure({ model: await copyOf(name, files) })).toContain(why)
  })

  test('a graph with unknown inputs', async () => {
    expect(await failure({ model: SEVERAL, dtype: 'q4' })).toContain(
      'needs the inputs token_type_ids, which this server does not provide. The data type is q4. The model also has fp32, q8, fp16: choose one with ROLLSCOPE_MODEL_DTYPE.',
    )
  })

  test('a model that does not fit into memory, with its needs and a form that would fit', async () => {
    const freeMemory = () => 20_000
    expect(await failure({ model: SEVERAL, freeMemory })).toMatch(
      /several in fp32 does not fit: its files have 34 kB and need about 47 kB of memory, 20 kB are free\. Set ROLLSCOPE_MODEL_DTYPE to q8, which it has too\.$/,
    )
    const alone = { model: await copyOf('alone', WHOLE), freeMemory }
    expect(await failure(alone)).toContain('It has no smaller form that fits.')
  })

  test.each([
    ['../elsewhere', 'there is no folder ../elsewhere'],
    ['a/b/c', '"a/b/c" is neither a folder nor a Hub name'],
    ['org/name', 'org/name is not in the local cache, and the Hub cannot be reached'],
  ])('the place %s', async (model, why) => {
    expect(
      await failure({ model, hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder } }),
    ).toContain(why)
  })
})

describe('A model from the Hub', () => {
  const NAME = 'org/several'
  const files = async (names: readonly string[]): Promise<Record<string, Buffer>> =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(path.join(SEVERAL, name))])))
  const started = async (repository: TestRepository, name: string) => {
    const hub = await startTestHub({ [NAME]: repository })
    return { hub, place: { url: hub.url, token: undefined, cacheFolder: path.join(folder, name) } }
  }

  test('downloads the files of one format only, reports its progress, and needs no network at the next start', async () => {
    let seen: { readonly ready: string; readonly downloads: unknown } | undefined
    const { hub, place } = await started(
      {
        files: await files([...WHOLE, ...QUANTIZED]),
        async pause() {
          seen ??= { ready: (await (await first.get('/ready')).json()).message, downloads: first.model.downloads() }
        },
      },
      'progress',
    )
    const first = client({ model: NAME, modelName: NAME, dtype: 'q8', hub: place })
    const reply = await first.generate(GREEDY)
    expect(seen).toEqual({
      ready: expect.stringMatching(/^The model is being downloaded: 0 kB of 10 kB, config\.json\.$/),
      downloads: [{ kind: 'model', name: NAME, file: expect.any(String), bytes: expect.any(Number), total: 9587 }],
    })
    expect(first.model.downloads()).toEqual([])
    expect(hub.requests.filter((asked) => asked.includes('/resolve/'))).toHaveLength(2)
    await hub.close()
    const again = client({ model: NAME, dtype: 'q8', hub: place })
    expect((await again.generate(GREEDY)).output_ids).toEqual(reply.output_ids)
  })

  test('downloads the weights beside the graph first, so that half of a download never counts as complete', async () => {
    const { hub, place } = await started({ files: await files(WHOLE), cut: 'onnx/model.onnx_data' }, 'cut')
    // The tokenizer of the model has been downloaded already.
    await mkdir(path.join(place.cacheFolder, 'models--org--several', 'refs'), { recursive: true })
    await writeFile(path.join(place.cacheFolder, 'models--org--several', 'refs', 'main'), TEST_COMMIT)
    expect(await failure({ model: NAME, hub: place })).toMatch(/The model cannot be loaded: /)
    hub.repositories[NAME] = { files: await files(WHOLE) }
    expect((await client({ model: NAME, hub: place }).generate(GREEDY)).output_ids).toHaveLength(6)
    await hub.close()
  })

  test('is refused before the download of its weights if it does not fit into memory', async () => {
    const { hub, place } = await started(
      { files: await files(QUANTIZED), sizes: { 'onnx/model_quantized.onnx': 9e14 } },
      'large',
    )
    const large = { model: NAME, hub: place, freeMemory: () => 1e9 }
    expect(await failure(large)).toContain('org/several in q8 does not fit: its files have 900000.0 GB')
    expect(hub.requests.filter((asked) => asked.includes('/resolve/') && asked.includes('onnx'))).toEqual([])
    await hub.close()
  })

  test.each([
    [{ refused: 401 }, 'the Hub refuses access to org/several (401)'],
    [{ refused: 404 }, 'the Hub has no model org/several'],
    [{ files: { 'config.json': '{}', 'model.safetensors': 'x' } }, 'it is no export for transformers.js'],
  ])('is refused with the reason for %j', async (changed, why) => {
    const { hub, place } = await started({ files: {}, ...changed } as TestRepository, 'refused')
    expect(await failure({ model: NAME, hub: place })).toContain(why)
    await hub.close()
  })
})

test('A model whose template writes neither calls nor reasoning is served without parsers', async () => {
  const tokenizer = await loadModelTokenizer()
  const template = tokenizer.compile(
    '{% for message in messages %}{{ message.content }}{% endfor %}{{ tools | length }}',
  )
  const { get, post } = client({ loadTokenizer: async () => ({ ...tokenizer, template: () => template }) })
  expect(await (await get('/model_info')).json()).toMatchObject({ reasoning_parser: null, tool_call_parser: null })
  const forced = '<think>a</think><tool_call>\\n\\{"name": "f"\\}\\n</tool_call>'
  const asked = {
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: { name: 'f' } }],
    regex: forced,
  }
  const written = '<think>a</think><tool_call>\n{"name": "f"}\n</tool_call>'
  const [choice] = (await (await post('/v1/chat/completions', asked)).json()).choices
  expect(choice.message).toEqual({ role: 'assistant', content: written, reasoning_content: null })
  const chunks = eventsIn(await (await post('/v1/chat/completions', { ...asked, stream: true })).text())
  const texts = (chunks as { choices: { delta: { content?: string } }[] }[]).map(
    ({ choices }) => choices[0]?.delta.content,
  )
  expect(texts.join('')).toBe(written)
})

describe('The configuration of a model family', () => {
  const facts = { vocab_size: 9, max_position_embeddings: 8, num_attention_heads: 4, hidden_size: 64 }

  test.each([
    ['llama', { ...facts, num_key_value_heads: 2 }, { contextLength: 8, heads: 2, headSize: 16 }],
    ['qwen3', { ...facts, num_key_value_heads: 2, head_dim: 32 }, { contextLength: 8, heads: 2, headSize: 32 }],
    ['gpt2', { vocab_size: 9, n_positions: 8, n_head: 4, n_embd: 64 }, { contextLength: 8, heads: 4, headSize: 16 }],
    ['mpt', { vocab_size: 9, max_seq_len: 8, n_heads: 4, d_model: 64 }, { contextLength: 8, heads: 4, headSize: 16 }],
    ['gemma3', { text_config: facts, vocab_size: 9 }, { contextLength: 8, heads: 4, headSize: 16 }],
    ['opt', { ...facts, num_key_value_heads: null, head_dim: null }, { contextLength: 8, heads: 4, headSize: 16 }],
  ])('is read for %s', (_family, config, graph) => {
    expect(modelConfig(config)).toMatchObject({ vocabularySize: 9, graph })
  })

  test('that lacks a field is refused with its name', async () => {
    expect(() => modelConfig({ vocab_size: 9 })).toThrow('max_position_embeddings')
    const model = await copyOf('broken', WHOLE)
    await writeFile(path.join(model, 'config.json'), '{"vocab_size": "many", "max_position_embeddings": 8}')
    expect(await failure({ model })).toContain('config.json: vocab_size: expected a number, found "many"')
  })
})
