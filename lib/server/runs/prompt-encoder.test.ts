/** Compares the server's own tokenizer with the same tokenizer from its files, in whole rollouts with a real model over HTTP. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestModel, MODEL_FOLDER } from '#lib/builtin-server/test-model.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { openServerPromptEncoder } from '#lib/engine/tokenizer/server-encoder.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { listeningUrl } from '#testing/listening.ts'
import { noMcpServers, threadedHere } from '#testing/services.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { plainTool } from './built-in-tools.ts'
import { continueRollout, type RolloutRequest, startRollout } from './rollouts.ts'
import { createRuns } from './runs.ts'

const never = new AbortController().signal
const model = createTestModel()
const folder = folderOfFile()
/** A tokenizer of the same vocabulary that merges nothing. */
const unlike = path.join(folder, 'unlike')

let server: Server
let client: EngineClient
let all: Services
/** The name that the server reports for its tokenizer. */
let reportedTokenizer: string | undefined
/** Paths that the server does not serve. */
let lacking: RegExp | undefined
/** Paths of the requests so far. */
let requests: string[]

/**
 * Replies of the model to a repeated request, because the tokenizer and the server's own both send it. They are equal except for the
 * request's id.
 */
const known = new Map<string, { readonly rid: string; readonly headers: object; readonly body: Buffer }>()

/** Answers a request with the model, and a repeated request with the earlier reply. */
async function answered(url: string, method: string, sent: Buffer, response: ServerResponse): Promise<void> {
  const { rid, ...asked } = url === '/generate' ? JSON.parse(sent.toString()) : {}
  const key = JSON.stringify(asked)
  const before = rid === undefined ? undefined : known.get(key)
  if (before) {
    response.writeHead(200, { ...before.headers }).end(before.body.toString().replaceAll(before.rid, rid))
    return
  }
  const answer = await model.handle(
    new Request(`http://localhost${url}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'POST' && { body: new Uint8Array(sent) }),
    }),
  )
  const headers = Object.fromEntries(answer.headers)
  response.writeHead(answer.status, headers)
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk)
    response.write(chunk)
  }
  response.end()
  if (rid !== undefined && answer.ok) known.set(key, { rid, headers, body: Buffer.concat(chunks) })
}

beforeAll(async () => {
  cpSync(MODEL_FOLDER, unlike, { recursive: true, filter: (file) => !/\.(onnx|onnx_data|safetensors)$/.test(file) })
  const definition = JSON.parse(readFileSync(path.join(unlike, 'tokenizer.json'), 'utf8'))
  writeFileSync(
    path.join(unlike, 'tokenizer.json'),
    JSON.stringify({ ...definition, model: { ...definition.model, merges: [] } }),
  )
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url = '/', method = 'GET' } = request
    requests.push(url)
    if (lacking?.test(url))
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ detail: 'Not Found' }))
    else await answered(url, method, Buffer.concat(chunks), response)
  })
  // A busy thread may delay an answer, during which the connection must stay open.
  server.keepAliveTimeout = 60_000
  client = createClient({ baseUrl: await listeningUrl(server), apiKey: undefined })
  const tokenizers = createTokenizerLoader({
    builtIn: { tiny: MODEL_FOLDER },
    folders: [unlike],
    hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
  })
  all = {
    version: '0',
    store: openTrajectoryStore(folder, { now: () => new Date() }),
    builtInTools: [plainTool(calculator)],
    mcpServers: noMcpServers,
    runs: createRuns(),
    servers: {
      defaultName: 'remote',
      client: () => ({
        ...client,
        // The description is made up, so the client must not check that the server stays the same.
        generate: (({ expected: _, ...request }, signal) =>
          client.generate(request, signal)) satisfies EngineClient['generate'],
        describe: async () => ({ modelName: 'm', contextLength: 4096, tokenizerName: reportedTokenizer }),
      }),
    },
    tokenizers,
    threaded: threadedHere(tokenizers),
  } as unknown as Services
})
beforeEach(() => {
  reportedTokenizer = 'tiny'
  lacking = undefined
  requests = []
})
afterAll(async () => {
  await client.close()
  await new Promise((resolve) => server.close(resolve))
  await model.close()
  all.store.close()
})

async function run(started: Promise<{ readonly rolloutId: string; readonly key: string }>): Promise<string> {
  const { rolloutId, key } = await started
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return key
}
const stored = (key: string) => all.store.get(key) as Trajectory
const greedy = { sampling: { temperature: 0, max_new_tokens: 400 }, limits: { maxToolIterations: 2 } }
const begun = (request: Partial<RolloutRequest>): Promise<string> =>
  run(startRollout({ tools: ['calculator'], ...greedy, ...request } as RolloutRequest, all, never))
const began = async (request: Partial<RolloutRequest>): Promise<Trajectory> => stored(await begun(request))
const problem = async (promise: Promise<unknown>): Promise<HttpProblem['details']> => {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(HttpProblem)
  return error.details
}

/** Returns everything that depends on the tokenizer: no times, no counts of the prefix cache, no rounding that depends on it. */
const substance = ({ segments, vocab, outcome, model: { tokenizer } }: Trajectory) => ({
  segments: segments.map(({ logprobs: _, topLogprobs: __, ...segment }) =>
    segment.kind === 'prompt'
      ? segment
      : {
          ...segment,
          request: { ...segment.request, rid: '' },
          usage: undefined,
          timing: undefined,
          toolCalls: segment.toolCalls.map((call) => ({ ...call, result: call.result?.text })),
        },
  ),
  vocab: Object.fromEntries(segments.flatMap(({ ids }) => ids.map((id) => [id, vocab[id]]))),
  outcome,
  endOfTurnId: tokenizer?.endOfTurnId,
})

describe('A rollout with the server’s tokenizer equals the one with the tokenizer’s files for', () => {
  test.each<[string, Partial<RolloutRequest>]>([
    ['thinking and two calls in a row', { prompt: 'What is 25 * 17, and then plus 9?' }],
    ['parallel calls', { prompt: 'Compute 12 * 7 and 81 / 9' }],
    ['a tool error', { prompt: 'What is 1 / 0?' }],
    ['no thinking', { prompt: 'What is 7 + 8?', templateOptions: { enable_thinking: false } }],
    [
      'no tools, a system prompt, letters of two to four bytes',
      { prompt: 'é 日本 🙂?', system: 'ж', tools: [], sampling: { temperature: 0, max_new_tokens: 40 } },
    ],
    [
      'a conversation with calls in it',
      {
        messages: [
          { role: 'user', content: 'What is 2 + 2?' },
          { role: 'assistant', content: '', toolCalls: [{ name: 'calculator', input: { expression: '2 + 2' } }] },
          { role: 'tool', content: '4' },
          { role: 'assistant', content: '4.' },
          { role: 'user', content: 'And 3 * 3?' },
        ],
      },
    ],
    ['not streamed', { prompt: 'What is 15% of 80?', stream: false, topLogprobs: 0, promptLogprobs: false }],
    ['cut in the middle', { prompt: 'What is 25 * 17?', sampling: { temperature: 0, max_new_tokens: 7 } }],
  ])('%s', async (_what, request) => {
    const keys = [await begun({ ...request, tokenizer: 'tiny' }), await begun({ ...request, tokenizer: 'server' })]
    const [own, theirs] = keys.map(stored) as [Trajectory, Trajectory]
    expect(substance(theirs)).toEqual(substance(own))
    expect(theirs.model.tokenizer).toMatchObject({ name: 'tiny', source: 'server' })
    expect(theirs.model.tokenizer).not.toHaveProperty('vocabularySize')
    expect(theirs.model.template).toMatchObject({ source: 'server', text: '' })
    expect(own.model.tokenizer).not.toHaveProperty('source')
    // A further turn continues with the same tokenizer.
    const further = { ...greedy, prompt: 'Now add 9.', sampling: { temperature: 0, max_new_tokens: 40 } }
    for (const key of keys) await run(continueRollout(key, further, all, never))
    const [ownMore, theirsMore] = keys.map(stored) as [Trajectory, Trajectory]
    expect(substance(theirsMore)).toEqual(substance(ownMore))
    expect(theirsMore.segments.slice(0, theirs.segments.length)).toEqual(theirs.segments)
  })

  test('a template from the request', async () => {
    const { template } = await all.tokenizers.load('tiny')
    const chatTemplate = template(true)?.text as string
    const own = await began({ prompt: 'What is 7 + 8?', tokenizer: 'tiny' })
    const theirs = await began({ prompt: 'What is 7 + 8?', tokenizer: 'server', chatTemplate })
    expect(substance(theirs)).toEqual(substance(own))
    expect(theirs.model.template).toEqual({ text: chatTemplate, options: {} })
  })
})

test('The server’s tokenizer yields the bytes of every id of the vocabulary, except for invalid UTF-8', async () => {
  const { tokenizer } = await all.tokenizers.load('tiny')
  const promptEncoder = await openServerPromptEncoder(client, { name: 'x' }, never)
  const all1024 = Array.from({ length: tokenizer.vocabularySize }, (_, id) => id)
  const found = await computeSettled(
    promptEncoder,
    () => all1024.map((id) => [...promptEncoder.tokenizer.bytes(id)]),
    never,
  )
  const differing = all1024.filter((id) => `${found[id]}` !== `${[...tokenizer.bytes(id)]}`)
  // These bytes occur in no UTF-8 text, and only their own tokens contain them.
  expect(differing.map((id) => [...tokenizer.bytes(id)])).toEqual(
    [0xc0, 0xc1, ...Array.from({ length: 11 }, (_, i) => 0xf5 + i)].map((byte) => [byte]),
  )
})

describe('The choice of a tokenizer', () => {
  const ask = { prompt: 'What is 7 + 8?' } as const

  test('takes the server’s own, with a label, for a path on the server’s disk', async () => {
    reportedTokenizer = '/models/qwen'
    const { model } = await began(ask)
    expect(model.tokenizer).toMatchObject({ name: '/models/qwen', source: 'server' })
    reportedTokenizer = 'C:\\models\\qwen'
    expect((await began(ask)).model.tokenizer).toMatchObject({ source: 'server' })
    reportedTokenizer = undefined
    expect((await began(ask)).model.tokenizer).toMatchObject({ name: 'remote', source: 'server' })
  })

  test('offers the server’s own in the error if the Hub refuses access', async () => {
    reportedTokenizer = 'Qwen/Qwen3-4B'
    expect(await problem(began(ask))).toMatchObject({ code: 'TOKENIZER_OFFLINE', remedy: 'server-tokenizer' })
  })

  test('offers the server’s own in the error if the chosen one is not available, even for a path', async () => {
    expect(await problem(began({ ...ask, tokenizer: '/nowhere' }))).toMatchObject({ remedy: 'server-tokenizer' })
  })

  test('refuses the tokenizer of another model with the difference', async () => {
    expect(await problem(began({ ...ask, tokenizer: unlike }))).toMatchObject({
      code: 'TOKENIZER_MISMATCH',
      detail: expect.stringContaining('is not the server’s: it encodes "The quick'),
      remedy: 'server-tokenizer',
    })
  })

  test('refuses to continue a trajectory whose ids would have another meaning', async () => {
    const key = await begun({ ...ask, tokenizer: 'server' })
    const before = stored(key)
    const change = (part: 'tokenizer' | 'template') => {
      const changed = { ...before.model, [part]: { ...before.model[part], fingerprint: 'x' } }
      all.store.update(key, { ...before, model: changed } as Trajectory, before.segments.length)
    }
    change('tokenizer')
    expect(await problem(continueRollout(key, { prompt: 'b' }, all, never))).toMatchObject({ code: 'OTHER_TOKENIZER' })
    change('template')
    expect(await problem(continueRollout(key, { prompt: 'b' }, all, never))).toMatchObject({ code: 'OTHER_TEMPLATE' })
  })

  test('offers and compares nothing for a server without /tokenize', async () => {
    lacking = /tokenize/
    reportedTokenizer = '/models/qwen'
    expect(await problem(began(ask))).not.toHaveProperty('remedy')
    expect(await problem(began({ ...ask, tokenizer: 'server' }))).toMatchObject({ code: 'NO_SERVER_TOKENIZER' })
    expect((await began({ ...ask, tokenizer: 'tiny' })).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  })

  test('uses /v1/tokenize for a router', async () => {
    lacking = /^\/(de)?tokenize/
    expect((await began({ ...ask, tokenizer: 'server' })).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(requests.filter((url) => url === '/v1/tokenize').length).toBeGreaterThan(0)
  })
})

test('The server’s tokenizer needs few requests in each turn', async () => {
  await began({ prompt: 'What is 25 * 17, and then plus 9?', tokenizer: 'server', stream: false })
  const calls = requests.join(' ').split('/generate')
  const counts = calls.map((urls) => urls.split(' ').filter((url) => url.endsWith('tokenize')).length)
  // The first count includes the opening, the end of a turn (two renders and their encodings) and the first prompt. Each further one has
  // the new ids of a reply, two renders, one encoding and the new ids of a prompt.
  expect(counts).toEqual([
    expect.toSatisfy((count) => count <= 19),
    ...counts.slice(1, -1).map(() => expect.toSatisfy((count) => count <= 9)),
    expect.toSatisfy((count) => count <= 2),
  ])
})
