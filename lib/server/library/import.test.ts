/** Tests the import of files without texts, and of the tokenizer that restores the texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ImportResult } from '#lib/api/imported.ts'
import { allowedHosts } from '#lib/download/allowed-hosts.ts'
import { openImportStore } from '#lib/store/import-store.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { closeServer, listening } from '#testing/listening.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { ThreadError } from '../limited-thread.ts'
import type { Services } from '../services.ts'
import { completeWithTokenizer, storeFile, storeUrl } from './import.ts'
import type { ImportQuestion } from './import-answer.ts'
import { runImportRequest } from './import-request.ts'

let folder: string
let store: TrajectoryStore
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
})
afterEach(() => store.close())

test('An import restores texts with a tokenizer whose chat template does not compile', async () => {
  const load = async () => ({
    tokenizer: byteTokenizer,
    template: () => chatTemplate('{% for %}', {}),
    compile: (text: string) => chatTemplate(text, {}),
    stopIds: [],
  })
  const sample = { prompt: '', tokens: byteTokenizer.encode('yes'), response_length: 3, loss_mask: [1, 1, 1] }
  const request = new Request('http://127.0.0.1/api/import?tokenizer=bytes', {
    method: 'POST',
    body: JSON.stringify(sample),
  })
  const { trajectories } = await storeFile(request, services({ tokenizers: { load: load as never } }))
  const found = store.get(trajectories[0] ?? '')
  expect(found && lacksTexts(found)).toBe(false)
})

test('An import that cannot write what it unpacks reports the failure of the disk', async () => {
  const file = gzipSync(JSON.stringify({ tokens: [1, 2], response_length: 1, loss_mask: [1], label: '' }))
  const request = new Request('http://127.0.0.1/api/import?name=a.json.gz', { method: 'POST', body: file })
  const failed = storeFile(request, services({ folder: path.join(folder, 'none') }))
  await expect(failed).rejects.toMatchObject({ name: 'StoreError', code: 'STORE_FAILED' })
})

test('An import reports an unknown parser, even without a tokenizer', async () => {
  const request = new Request('http://127.0.0.1/api/import?parser=nope', { method: 'POST', body: '{}' })
  const refused = storeFile(request, { store } as unknown as Services)
  await expect(refused).rejects.toMatchObject({
    details: { status: 422, code: 'NO_PARSER', hint: expect.stringContaining('hermes') },
  })
})

/** Loads a tokenizer of bytes under every name. */
const load = async () => ({ tokenizer: byteTokenizer, template: () => undefined }) as unknown as LoadedTokenizer

/** Returns services that import on this thread. */
function services(deps: Partial<Parameters<typeof runImportRequest>[1]> = {}): Services {
  const tokenizers = { load, ...deps.tokenizers }
  const importing = {
    ask: async (question: ImportQuestion): Promise<ImportResult> => {
      const database = openImportStore(folder, () => new Date())
      try {
        return await runImportRequest(question, { store: database, folder, ...deps, tokenizers })
      } finally {
        database.close()
      }
    },
  }
  return { store, tokenizers, importing, config: { dataFolder: folder } } as unknown as Services
}
const importText = (query: string, body: string, all = services()) =>
  storeFile(new Request(`http://127.0.0.1/api/import?${query}`, { method: 'POST', body }), all)
const allRows = () => store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 10 }).rows

test('An import stores every sample of a file with the tokenizer that the request names, and with its group', async () => {
  const sample = (index: number) => ({
    tokens: [1, 2, 3],
    response_length: 2,
    loss_mask: [1, 1],
    rollout_log_probs: [-1, -2],
    status: 'completed',
    index,
    group_index: 0,
  })
  const { format, trajectories } = await importText(
    'tokenizer=bytes&name=two.jsonl',
    JSON.stringify([sample(0), sample(1)]),
  )
  expect([format, trajectories.length]).toEqual(['slime', 2])
  expect(store.get(trajectories[1] ?? '')).toMatchObject({
    group: { id: '0', index: 1 },
    model: { tokenizer: { name: byteTokenizer.name }, parser: 'hermes' },
    provenance: { format: 'slime', file: 'two.jsonl' },
  })
})

test('The library lists an opened file of Rollscope as imported, even after its record has changed', async () => {
  const { trajectories } = await importText('name=a.json', encode(sampleTrajectory))
  const [key = ''] = trajectories
  const listed = () => allRows().map(({ source, importFormat }) => [source, importFormat])
  expect(listed()).toEqual([['import', 'rollscope']])
  const { segments } = sampleTrajectory
  store.update(key, { ...sampleTrajectory, outcome: { kind: 'ended', reason: 'cancelled' } }, segments.length)
  expect(listed()).toEqual([['import', 'rollscope']])
  store.add({ ...sampleTrajectory, id: 'run here' })
  expect(listed()).toEqual([
    [sampleTrajectory.provenance.kind, null],
    ['import', 'rollscope'],
  ])
})

test('An import stores the good records of a file, and its answer lists the broken ones with line and path', async () => {
  const good = (id: number) => JSON.stringify({ token_ids: [id] })
  const lines = [good(1).slice(0, 9), good(2), '{"token_ids": ["x"]}', good(3), '{"hello": 1}']
  const answer = await importText('name=a.jsonl', lines.join('\n'))
  expect(answer.trajectories.map((key) => store.get(key)?.segments[0]?.ids)).toEqual([[2], [3]])
  expect(answer.failed).toMatchObject({
    count: 3,
    first: [
      { line: 1, path: '', expected: 'JSON', hint: expect.stringMatching(/./) },
      { line: 3, path: 'token_ids[0]', expected: 'a number', found: '"x"' },
      { line: 5, path: '', expected: 'a trajectory of strands-sglang', found: 'an object with hello' },
    ],
  })
})

test('An import lists only the first broken records of a file with many, and counts all', async () => {
  const { failed } = await importText('', `${'7\n'.repeat(150)}{"token_ids": [1]}`)
  expect([failed.count, failed.first.length, failed.first.at(-1)?.line]).toEqual([150, 100, 100])
})

describe('An import refuses a file in which nothing opens, and stores none of its records:', () => {
  const good = '{"token_ids": [1], "logprobs": [NaN]}'
  test.each([
    ['only wrong lines', '', `{"token_ids": ["x"]}\n7`, 'line 1: token_ids[0]: expected a number, found "x"'],
    ['another format than the named one', 'format=slime', good, 'expected a trajectory of slime'],
    ['no format of that name', 'format=word', good, 'there is no format "word"'],
    ['another tokenizer', 'tokenizer=bytes', '{"token_ids": [5, 9999999]}', 'token 1 has the id 9999999'],
  ])('%s', async (_, query, text, detail) => {
    await expect(importText(query, text)).rejects.toMatchObject({
      details: { status: 422, detail: expect.stringContaining(detail), hint: expect.stringMatching(/./) },
    })
    expect(allRows()).toEqual([])
  })
})

test('An import that breaks a limit at its end removes the records that it stored before, which nobody has seen', async () => {
  const seen: number[] = []
  const database = openImportStore(folder, () => new Date())
  const watched = {
    ...database,
    add(...all: Parameters<typeof database.add>) {
      const added = database.add(...all)
      seen.push(allRows().length)
      return added
    },
  }
  const lines = [1, 2].map((token) => {
    const sample = JSON.stringify({ tokens: [token], response_length: 1, status: 'completed' })
    return `{"samples": [${sample}, ${sample}]}`
  })
  const known = store.add(sampleTrajectory)
  const refused = importText(
    '',
    lines.join('\n'),
    services({ store: watched, batch: 1, limits: { ...LIMITS, records: 3 } }),
  )
  await expect(refused).rejects.toMatchObject({ details: { status: 422, code: 'BAD_FILE' } })
  expect(seen).toEqual([1, 1, 1])
  expect(allRows().map(({ key }) => key)).toEqual([known])
  database.close()
})

test('An import reports how many of its trajectories were in the library before, and restores deleted ones', async () => {
  const { trajectories } = await importText('', encode(sampleTrajectory))
  const [key = ''] = trajectories
  store.remove(key)
  const again = await importText('', `[${encode(sampleTrajectory)},${encode({ ...sampleTrajectory, id: 'new' })}]`)
  expect(again).toMatchObject({ trajectories: [key, 'new'], existing: 1 })
  expect(allRows()).toHaveLength(2)
})

test('An import of the same file again stores nothing, although its records have no ids, and keeps the labels that were changed', async () => {
  const line = JSON.stringify({ tokens: [1, 2], response_length: 1, status: 'completed', reward: 1 })
  const text = `${line}\n${line}\n`
  const { trajectories: keys } = await importText('name=a.jsonl', text)
  expect(new Set(keys).size).toBe(2)
  const [key = ''] = keys
  store.label(key, { title: 'Mine', reward: 0 })
  expect(await importText('name=a.jsonl', text)).toMatchObject({ trajectories: keys, existing: 2 })
  expect([allRows().length, store.labels(key)]).toEqual([2, { title: 'Mine', reward: 0 }])
  // Other bytes, another name, or another reading of the same bytes are other records.
  for (const [query, body] of [
    ['name=a.jsonl', line],
    ['name=b.jsonl', text],
    ['name=a.jsonl&tokenizer=bytes', text],
  ] as const)
    expect(await importText(query, body)).toMatchObject({ existing: 0 })
  expect(allRows()).toHaveLength(7)
})

test('An import of the same file again finds a record that a tokenizer has changed, unless it is deleted or the import names a tokenizer', async () => {
  const text = JSON.stringify({ tokens: [65, 66], response_length: 1, status: 'completed' })
  const again = async (query = '') => (await importText(`name=a.jsonl${query}`, text)).trajectories
  const [key = ''] = await again()
  await completeWithTokenizer(key, { tokenizer: 'bytes' }, services(), new AbortController().signal)
  const completed = store.get(key)
  expect(completed && lacksTexts(completed)).toBe(false)
  expect(await again()).toEqual([key])
  expect(store.get(key)).toEqual(completed)
  expect(await again('&tokenizer=bytes&parser=glm')).not.toEqual([key])
  store.remove(key)
  const [original = ''] = await again()
  const stored = store.get(original)
  expect([stored && lacksTexts(stored), store.isDeleted(key)]).toEqual([true, true])
})

test('An import of the same file again finds the paths of a trace, of which one names the other', async () => {
  const message = (content: string) => ({ role: 'user', content })
  const node = (parent: number | null, token: number) => ({
    parent,
    message: message(String(token)),
    token_ids: [token],
    mask: [false],
  })
  const trace = { id: 't', task: { key: 'q' }, nodes: [node(null, 1), node(0, 2), node(0, 3)] }
  const first = await importText('name=traces.jsonl', JSON.stringify(trace))
  expect(first).toMatchObject({ format: 'verifiers', existing: 0 })
  expect(await importText('name=traces.jsonl', JSON.stringify(trace))).toMatchObject({
    trajectories: first.trajectories,
    existing: 2,
  })
})

test('An import refuses a file that breaks a limit, with the limit and what to do', async () => {
  const small = services({ limits: { ...LIMITS, records: 2 } })
  await expect(importText('', '[1,1,1]', small)).rejects.toMatchObject({
    details: {
      code: 'BAD_FILE',
      detail: 'expected at most 2 trajectories, found more',
      hint: expect.stringContaining('split'),
    },
  })
})

test('An import of a body that ends early leaves no file behind', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(2 << 20))
      controller.error(new Error('the connection is gone'))
    },
  })
  const request = new Request('http://127.0.0.1/api/import', { method: 'POST', body, duplex: 'half' } as RequestInit)
  const before = readdirSync(folder)
  await expect(storeFile(request, services())).rejects.toThrow('the connection is gone')
  expect(readdirSync(folder)).toEqual(before)
})

test.each([
  ['memory', 'TOO_COMPLEX', Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })],
  ['time', 'TOO_SLOW', new ThreadError('it took longer than 600 s')],
])('An import that needs too much %s is refused with its own code', async (_, code, error) => {
  const all = { ...services(), importing: { ask: () => Promise.reject(error) } } as unknown as Services
  await expect(importText('', '{}', all)).rejects.toMatchObject({ details: { status: 422, code } })
})

test('The library assigns no other tokenizer to a trajectory that was sampled with its own', async () => {
  const key = store.add(sampleTrajectory)
  const refused = completeWithTokenizer(key, { tokenizer: 'bytes' }, services(), new AbortController().signal)
  await expect(refused).rejects.toMatchObject({ details: { status: 409, code: 'HAS_TOKENIZER' } })
})

test.each([
  ['openai-responses.jsonl', undefined],
  ['litellm-responses.jsonl', undefined],
  ['vllm-chat.json', 'OTHER_TOKENIZER'],
  ['agent-lightning-events.json', 'OTHER_TOKENIZER'],
])('The library compares the token texts that the server of %s wrote with the chosen tokenizer', async (name, code) => {
  const { tokenizer } = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
  const loaded = (async () => ({ tokenizer, template: () => undefined })) as unknown as typeof load
  const all = services({ tokenizers: { load: loaded } })
  const { trajectories } = await importText('', readFileSync(`lib/formats/golden/foreign/${name}`, 'utf8'), all)
  for (const key of trajectories) {
    const before = store.get(key)
    const problem = await completeWithTokenizer(key, { tokenizer: 'built-in' }, all, new AbortController().signal).then(
      () => undefined,
      (error) => error.details.code,
    )
    expect(problem).toBe(code)
    if (code) expect(store.get(key)).toEqual(before)
  }
})

/** A file with messages and no ids. */
const chat = (content: string): Trajectory => ({
  ...sampleTrajectory,
  id: content,
  model: { tools: [] },
  vocab: {},
  segments: [
    { kind: 'prompt', ids: [], messages: [{ role: 'user', content }] },
    { kind: 'response', ids: [], thinks: [], toolCalls: [], message: { role: 'assistant', content: 'A' } },
  ],
  provenance: { kind: 'import', format: 'chat', lacked: [], missing: ['ids'] },
})

const REFUSES_NO = `{%- for m in messages -%}{%- if m.content == 'no' -%}{{- raise_exception('it says no') -}}{%- endif -%}{{- m.role + ': ' + m.content + '<|im_end|>' -}}{%- endfor -%}`
const chatTokenizers = {
  load: (async () => ({
    tokenizer: byteTokenizer,
    template: () => chatTemplate(REFUSES_NO, {}),
  })) as unknown as typeof load,
}

test('A tokenizer gives the messages of a stored file ids, and another one replaces them', async () => {
  const all = services({ tokenizers: chatTokenizers })
  const key = store.add(chat('hi'))
  const never = new AbortController().signal
  for (const parser of [undefined, 'hermes'])
    await completeWithTokenizer(key, { tokenizer: 'bytes', ...(parser !== undefined && { parser }) }, all, never)
  const { segments = [], provenance } = store.get(key) ?? {}
  expect(segments.map(({ ids }) => ids.length > 0)).toEqual([true, true])
  expect(provenance).toMatchObject({ missing: [], encodedAgain: { tokenizer: byteTokenizer.name, template: true } })
})

test('A chat template that refuses the messages of a stored file gives its reason, and the file stays as it is', async () => {
  const key = store.add(chat('no'))
  const all = services({ tokenizers: chatTokenizers })
  await expect(
    completeWithTokenizer(key, { tokenizer: 'bytes' }, all, new AbortController().signal),
  ).rejects.toMatchObject({
    details: { status: 422, code: 'TEMPLATE_REFUSES', detail: expect.stringContaining('it says no') },
  })
  expect(store.get(key)).toMatchObject({ provenance: { missing: ['ids'] } })
})

test('An import with a tokenizer encodes messages, and stores those that the template refuses without tokens', async () => {
  const all = services({ tokenizers: chatTokenizers })
  const { trajectories } = await importText('tokenizer=bytes', `[${encode(chat('yes'))},${encode(chat('no'))}]`, all)
  const [encoded, refused] = trajectories.map((key) => store.get(key))
  expect(encoded?.segments[1]?.ids.length).toBeGreaterThan(0)
  expect(refused?.segments[1]?.ids).toEqual([])
  expect(refused?.problems).toEqual([{ kind: 'template', message: expect.stringContaining('it says no') }])
})

describe('A file of another host', () => {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/runs/good.json')) response.end(encode(sampleTrajectory))
    else if (request.url === '/bad.json') response.end('{"a": 1}')
    else response.writeHead(404).end()
  })
  let port: number
  beforeEach(async () => {
    port = await listening(server)
  })
  afterEach(() => closeServer(server))
  const store = (path: string, hosts = [`127.0.0.1:${port}`]) => {
    const openHosts = allowedHosts(hosts, { host: '127.0.0.1', port: 3000, builtInPath: '/sglang' })
    const all = { ...services(), openHosts }
    return storeUrl({ url: `http://127.0.0.1:${port}${path}` }, all, new AbortController().signal)
  }

  test('is stored with the last part of its path as its name', async () => {
    const { trajectories } = await store('/runs/good.json?key=secret')
    expect(allRows().map(({ key }) => key)).toEqual(trajectories)
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test.each([
    ['/good.json', [], { status: 422, code: 'URL_REFUSED', hint: expect.stringContaining('ROLLSCOPE_OPEN_HOSTS') }],
    ['/none.json', undefined, { status: 502, code: 'URL_FAILED' }],
    ['/bad.json', undefined, { status: 422, code: 'BAD_FILE' }],
  ])('that is not a trajectory, or cannot be downloaded, stores nothing: %s', async (path, hosts, details) => {
    await expect(store(path, hosts)).rejects.toMatchObject({ details })
    expect(allRows()).toEqual([])
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })
})
