/** Tests the life of the server (loading, failing, ending), its paths and its methods; generate.test.ts tests what it generates. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LocalModel, LocalModelOptions } from './local-model.ts'
import { createTestModel, MODEL_FOLDER, testClient } from './test-model.ts'

let folder: string
const models: LocalModel[] = []
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-model-'))
})
afterAll(async () => {
  await Promise.all(models.map((model) => model.close()))
  await rm(folder, { recursive: true })
})

function client(options: Partial<LocalModelOptions> = {}) {
  const model = createTestModel(options)
  models.push(model)
  return { model, ...testClient(model) }
}

const ONE_TOKEN = { input_ids: [9], sampling_params: { max_new_tokens: 1, ignore_eos: true } }

test('The built-in server reveals the path of its tokenizer, which AutoTokenizer loads, only to a caller with the launch token', async () => {
  const { model } = client()
  const answerAt = async (path: string, caller?: Parameters<LocalModel['handle']>[1]) =>
    (await model.handle(new Request(`http://localhost${path}`), caller)).json()
  for (const path of ['/model_info', '/get_model_info', '/server_info']) {
    expect(await answerAt(path, { hasToken: true })).toMatchObject({
      model_path: 'tiny-qwen3',
      tokenizer_path: MODEL_FOLDER,
    })
    for (const caller of [undefined, { hasToken: false }]) {
      const open = await answerAt(path, caller)
      expect(open.tokenizer_path).toBe('tiny-qwen3')
      expect(JSON.stringify(open)).not.toContain(MODEL_FOLDER)
    }
  }
})

describe('Loading of the built-in model', () => {
  test('begins with the first request, and has ended when the server answers ready', async () => {
    const { get, generate } = client()
    const first = await get('/ready')
    expect([first.status, await first.json()]).toEqual([
      503,
      { object: 'error', message: 'The model is being loaded.', type: '503', param: null, code: 503 },
    ])
    await expect.poll(async () => (await get('/health')).status).toBe(200)
    expect((await generate(ONE_TOKEN)).output_ids).toHaveLength(1)
  })

  test('is awaited by a request that needs the model', async () => {
    const { generate } = client()
    const replies = await Promise.all([generate(ONE_TOKEN), generate(ONE_TOKEN)])
    expect(replies.map(({ output_ids }) => output_ids.length)).toEqual([1, 1])
  })

  test('reports a failure, and is tried again', async () => {
    const model = path.join(folder, 'late')
    const { get, post, generate } = client({ model })
    await mkdir(model)
    await cp(path.join(MODEL_FOLDER, 'config.json'), path.join(model, 'config.json'))
    const failed = await post('/generate', ONE_TOKEN)
    const why = { object: 'error', message: expect.stringMatching(/^The model cannot be loaded: .*model\.onnx/) }
    expect([failed.status, await failed.json()]).toEqual([500, { ...why, type: '500', param: null, code: 500 }])
    expect(await (await get('/ready')).json()).toEqual({ ...why, type: '500', param: null, code: 500 })
    await cp(path.join(MODEL_FOLDER, 'onnx'), path.join(model, 'onnx'), { recursive: true })
    await expect.poll(async () => (await get('/ready')).status).toBe(200)
    expect((await generate(ONE_TOKEN)).output_ids).toHaveLength(1)
  })

  test.each([
    ['a folder that is not there', { model: '/nowhere/at/all' }, 'there is no folder /nowhere/at/all'],
    [
      'a tokenizer that cannot be had',
      { loadTokenizer: () => Promise.reject(new Error('no tokenizer')) },
      'no tokenizer',
    ],
  ])('from %s fails with the reason', async (_what, options, reason) => {
    const response = await client(options).post('/generate', ONE_TOKEN)
    expect(response.status).toBe(500)
    expect((await response.json()).message).toBe(`The model cannot be loaded: ${reason}`)
  })

  test('reports the field of an invalid config.json', async () => {
    const model = path.join(folder, 'broken')
    await cp(MODEL_FOLDER, model, { recursive: true })
    await writeFile(path.join(model, 'config.json'), '{"vocab_size": "many", "max_position_embeddings": 8}')
    const response = await client({ model }).post('/generate', ONE_TOKEN)
    expect((await response.json()).message).toContain('config.json: vocab_size: expected a number, found "many"')
  })
})

describe('The end of the built-in model', () => {
  test('by a failing thread fails running requests, and the next request starts another thread', async () => {
    const workerFile = path.join(folder, 'fragile.mjs')
    await writeFile(
      workerFile,
      `import { parentPort } from 'node:worker_threads'
       const facts = { vocabularySize: 1024, contextLength: 64, modelType: 'none', architectures: [] }
       parentPort.on('message', () => { throw new Error('out of memory') })
       parentPort.postMessage({ type: 'loaded', facts })`,
    )
    const { get, post } = client({ workerFile })
    for (const _attempt of [1, 2]) {
      const response = await post('/generate', ONE_TOKEN)
      const message = 'the engine thread failed: out of memory'
      expect([response.status, (await response.json()).message]).toEqual([500, message])
    }
    expect((await get('/model_info')).status).toBe(200)
  })

  test('by close fails running requests', async () => {
    const { model, post, get } = client()
    const reply = post('/generate', { input_ids: [9], sampling_params: { max_new_tokens: 3000, ignore_eos: true } })
    await expect.poll(async () => (await get('/ready')).status).toBe(200)
    await model.close()
    expect((await reply).status).toBe(500)
  })

  test('with its process causes no crash, whatever the thread does', async () => {
    const script = `
      import { createTestModel, testClient } from './lib/builtin-server/test-model.ts'
      const { generate } = testClient(createTestModel())
      await generate({ input_ids: [9], sampling_params: { max_new_tokens: 1 } })
      setTimeout(() => process.exit(7), 20)
      await generate({ input_ids: [9], sampling_params: { max_new_tokens: 3000, ignore_eos: true } })`
    const codes = Array.from({ length: 2 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script])
      const [code] = await once(child, 'exit')
      return code
    })
    expect(await Promise.all(codes)).toEqual([7, 7])
  })

  test('before its first request is no error', async () => {
    await client().model.close()
  })
})

describe('The built-in server', () => {
  const { model, get, post } = client()
  const request = (method: string, pathname: string) =>
    model.handle(new Request(`http://localhost${pathname}`, { method }))

  test.each([
    ['DELETE', '/generate', 405, 'POST, PUT'],
    ['GET', '/tokenize', 405, 'POST'],
    ['POST', '/model_info', 405, 'GET'],
    ['POST', '/v1/models/x', 405, 'GET'],
    ['GET', '/constructor', 404, null],
    ['GET', '/v1', 404, null],
  ])('answers %s %s with %i', async (method, pathname, status, allow) => {
    const response = await request(method, pathname)
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow])
    expect(await response.json()).toEqual({ detail: status === 404 ? 'Not Found' : 'Method Not Allowed' })
  })

  test.each(['/generate', '/v1/chat/completions', '/parse_function_call'])(
    'limits bodies of %s to 16 MiB, announced or not',
    async (pathname) => {
      const announced = await post(pathname, ' '.repeat(2 ** 24 + 1))
      const piece = new Uint8Array(2 ** 23).fill(32)
      let pieces = 0
      const body = new ReadableStream({
        pull(controller) {
          pieces++
          controller.enqueue(piece)
        },
      })
      const init = { method: 'POST', body, duplex: 'half' }
      const endless = await model.handle(new Request(`http://localhost${pathname}`, init))
      const message = 'The body is larger than 16 MiB.'
      for (const response of [announced, endless]) {
        expect(response.status).toBe(413)
        expect(await response.json()).toEqual({ object: 'error', message, type: '413', param: null, code: 413 })
      }
      expect(pieces).toBeLessThanOrEqual(5)
    },
  )

  test('finds a model by its name, with or without a slash in it', async () => {
    expect((await get('/v1/models/tiny-qwen3')).status).toBe(200)
    const named = client({ modelName: 'someone/tiny' })
    expect((await named.get('/v1/models/someone%2Ftiny')).status).toBe(200)
    expect((await named.get('/v1/models/someone/tiny')).status).toBe(200)
  })

  test('encodes and decodes texts, one or many, with and without special tokens', async () => {
    const prompt = '<|im_start|>user\nWhat is 12 * 7? 🙂<|im_end|>\n'
    const { tokens, count } = await (await post('/tokenize', { prompt })).json()
    expect(count).toBe(tokens.length)
    const text = async (body: object) => (await (await post('/detokenize', body)).json()).text
    expect(await text({ tokens, skip_special_tokens: false })).toBe(prompt)
    expect(await text({ tokens: [tokens, []] })).toEqual(['user\nWhat is 12 * 7? 🙂\n', ''])
  })

  test('encodes messages through the chat template, with tools and options', async () => {
    const messages = [{ role: 'user', content: 'hi' }]
    const text = async (body: object) => {
      const { tokens } = await (await post('/v1/tokenize', { messages, ...body })).json()
      return (await (await post('/v1/detokenize', { tokens, skip_special_tokens: false })).json()).text
    }
    const tool = { type: 'function', function: { name: 'calculator', description: 'adds', parameters: {} } }
    expect(await text({})).toBe('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n')
    expect(await text({ add_generation_prompt: false })).toBe('<|im_start|>user\nhi<|im_end|>\n')
    expect(await text({ chat_template_kwargs: { enable_thinking: false } })).toContain('<think>\n\n</think>')
    expect(await text({ tools: [tool] })).toContain('"name": "calculator"')
  })

  test.each([
    ['/tokenize', {}, 'Field required'],
    ['/tokenize', { prompt: 5 }, 'invalid type: integer `5`, expected a string or a sequence of strings'],
    ['/tokenize', { messages: [{ content: 'x' }] }, 'invalid type: sequence, expected a sequence of maps with a role'],
    ['/tokenize', { messages: [], continue_final_message: true }, 'continue_final_message is set'],
    ['/detokenize', {}, 'Field required'],
    ['/detokenize', { tokens: 'abc' }, 'invalid type: string "abc", expected a sequence of i64 or of such sequences'],
    ['/abort_request', { rid: 5 }, 'Input should be a valid string'],
  ])('refuses at %s the body %j', async (pathname, body, message) => {
    const response = await post(pathname, body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(JSON.stringify(message).slice(1, -1))
  })
})
