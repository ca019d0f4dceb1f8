/** Calls every row of the table with real services, and compares each answer with the row. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { folderOfFile } from '#testing/files/folders.ts'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { realServices, SERVICES_TOKEN } from '#testing/real-services.ts'
import { type Endpoint, METHODS } from '../http/endpoint.ts'
import { createRouter } from '../http/router.ts'
import { shareServices } from '../shared.ts'
import { answerRequest, routes } from './routes.ts'

const folder = folderOfFile()
/** A host from which files are downloaded. */
const files = createServer((_, response) => response.end(readFileSync('public/examples/two-steps.json')))
afterAll(() => closeServer(files))
const filesUrl = await listeningUrl(files)
const mcpFile = path.join(folder, 'mcp.json')
const program = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'
writeFileSync(
  mcpFile,
  JSON.stringify({
    mcpServers: { everything: { command: process.execPath, args: [path.resolve(program), 'stdio'] } },
  }),
)
const services = shareServices(
  await realServices(folder, { ROLLSCOPE_MCP: mcpFile, ROLLSCOPE_OPEN_HOSTS: new URL(filesUrl).host }),
)

/** Returns the JSON or the lines of a response. Throws an Error if the response fits none of the answers of its row. */
async function checkedAnswer({ method, path, answers }: Endpoint, response: Response) {
  const text = await response.text()
  const what = `${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`
  const answer = answers[response.status]
  if (!answer) throw new Error(`${what}. Its row has no such status`)
  switch (response.headers.get('content-type')) {
    case 'application/json':
      checkValue(answer.schema, JSON.parse(text), what)
      return JSON.parse(text)
    case 'application/x-ndjson':
      expect(text, what).toMatch(/\n$/)
      return text
        .trim()
        .split('\n')
        .map((line) => {
          checkValue(answer.lines, JSON.parse(line), what)
          return JSON.parse(line)
        })
    case 'text/plain':
      // The answer of another server.
      return text
    case null:
      expect([text, answer.schema, answer.lines], what).toEqual(['', undefined, undefined])
      return undefined
    default:
      throw new Error(`${what}. No row has ${response.headers.get('content-type')}`)
  }
}

/** Throws an Error for a value that does not fit, and for a field that the schema does not name, because the description would lack it. */
function checkValue(schema: z.core.$ZodType | undefined, value: unknown, what: string): void {
  if (!schema) throw new Error(`${what}. Its row has no such body`)
  const parsed = z.safeParse(schema, value)
  if (!parsed.success) throw new Error(`${what}. ${z.prettifyError(parsed.error)}`)
  expect(parsed.data, what).toEqual(value)
}

const requestFor = (method: string, address: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  new Request(`http://localhost${address}`, {
    method,
    headers: {
      host: 'localhost',
      authorization: `Bearer ${SERVICES_TOKEN}`,
      ...(method !== 'GET' && { 'x-rollscope': '1', 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const uncalled = new Set(routes.map(({ method, path }) => `${method} ${path}`))

interface Sent {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls a row by its name, and checks its answer. */
async function call(row: string, { params = {}, query = '', body, headers }: Sent = {}) {
  const endpoint = routes.find(({ method, path }) => `${method} ${path}` === row)
  if (!endpoint) throw new Error(`${row} is no row of the table`)
  const address = endpoint.path.replace(/\{([\w*]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const value = await checkedAnswer(
    endpoint,
    await answerRequest(requestFor(endpoint.method, `${address}${query}`, body, headers)),
  )
  uncalled.delete(row)
  return value
}

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const SAMPLING = { max_new_tokens: 4, temperature: 0 }
const SPEC = { name: 'add', inputSchema: { type: 'object' } }

test('The rows of the application answer as the table describes', async () => {
  expect(await call('GET /api/health')).toMatchObject({ status: 'ok' })
  expect((await call('GET /api/capabilities')).parsers).toContain('hermes')
  const { paths } = await call('GET /api/openapi.json')
  expect(Object.keys(paths).length).toBeGreaterThan(35)
  for (const what of ['continue', 'branch', 'value', 'structured'])
    expect(JSON.stringify(paths[`/api/trajectories/{key}/${what}`].post.requestBody)).toContain(
      'Default: the server of the trajectory’s last call.',
    )
})

test('The rows of SGLang and MCP servers answer as the table describes', async () => {
  const name = 'built-in'
  expect((await call('GET /api/servers')).default).toBe(name)
  const input = { name: 'own', baseUrl: 'http://127.0.0.1:9' }
  await call('POST /api/servers', { body: input })
  await call('PUT /api/servers/{name}', { params: input, body: { ...input, apiKey: 'key' } })
  expect(await call('GET /api/servers/{name}/status', { params: input })).toMatchObject({ state: 'failed' })
  await call('DELETE /api/servers/{name}', { params: input })
  await expect
    .poll(async () => (await call('GET /api/servers/{name}/status', { params: { name } })).state)
    .toBe('ready')
  await call('GET /api/servers/{name}/load', { params: { name } })
  const body = { text: '<think>a</think>b', tools: [SPEC], parser: 'hermes', reasoningParser: 'qwen3' }
  await call('POST /api/servers/{name}/parse', { params: { name }, body })
  expect(await call('POST /api/score', { body: { ids: [1, 2, 3], topLogprobs: 1 } })).toMatchObject({ start: 0 })
  const lines = await call('POST /api/score', { body: { ids: [1, 2, 3], ranges: [{ start: 1, end: 3 }] } })
  expect(lines.map(({ kind }: { kind: string }) => kind)).toEqual(['server', 'scores', 'done'])

  expect((await call('GET /api/mcp-servers')).servers).toHaveLength(1)
  const mcp = { name: 'mine', url: 'http://127.0.0.1:9/mcp' }
  await call('POST /api/mcp-servers', { body: mcp })
  await call('DELETE /api/mcp-servers/{name}', { params: mcp })
  const { tools } = await call('GET /api/mcp-servers/{name}/tools', { params: { name: 'everything' } })
  expect(tools.length).toBeGreaterThan(2)
})

test('The rows of tokenizers answer as the table describes', async () => {
  await call('GET /api/tokenizers')
  expect((await call('POST /api/tokenizers', { body: { name: 'built-in' } })).at(-1)).toMatchObject({ state: 'ready' })
  expect((await call('POST /api/tokenizers', { body: { name: 'a/b' } })).at(-1)).toMatchObject({ state: 'failed' })
  const query = '?name=built-in'
  await call('GET /api/tokenizers/files', { query })
  const known = await answerRequest(requestFor('GET', `/api/tokenizers/files${query}`))
  const headers = { 'if-none-match': known.headers.get('etag') ?? '' }
  expect(await call('GET /api/tokenizers/files', { query, headers })).toBeUndefined()
  await call('GET /api/tokenizers/generation-config', { query })
  await call('POST /api/tokenize', { body: { text: 'Hi' } })
})

test('The rows of rollouts and of stored trajectories answer as the table describes', async () => {
  const request = { prompt: 'Hi', sampling: SAMPLING }
  const events = await call('POST /api/rollouts', { body: request })
  expect(events.at(-1)).toMatchObject({ type: 'ended' })
  const started = await call('POST /api/rollouts', { body: { ...request, detached: true, topLogprobs: 2 } })
  const params = { id: started.rolloutId, key: started.trajectoryId }
  const followed = await call('GET /api/rollouts/{id}/events', { params, query: '?from=0' })
  expect(followed.at(-1)).toMatchObject({ type: 'ended' })
  await call('POST /api/rollouts/{id}/cancel', { params })

  expect((await call('GET /api/trajectories/{key}', { params })).outcome.kind).toBe('ended')
  await call('POST /api/trajectories/{key}/prompt-logprobs', { params, body: {} })
  const further = await call('POST /api/trajectories/{key}/continue', { params, body: request })
  expect(further.at(-1)).toMatchObject({ type: 'ended' })
  const branches = await call('POST /api/trajectories/{key}/branch', { params, body: { at: 0, edit: { text: 'Ho' } } })
  const [branch] = branches.keys
  await call('GET /api/rollouts/{id}/events', { params: { id: branches.rollouts[0] } })
  const { leaves } = await call('GET /api/trajectories/{key}/tree', { params })
  expect(leaves.map(({ row }: { row: { key: string } }) => row.key)).toEqual([params.key, branch])
  await call('DELETE /api/trajectories/{key}', { params: { key: branch } })
  const at = (services.store.get(params.key)?.segments[0]?.ids.length ?? 0) + 1
  const reward = { kind: 'pattern', pattern: '.' }
  const value = { at, n: 2, reward, sampling: { ...SAMPLING, temperature: 1 } }
  const estimate = await call('POST /api/trajectories/{key}/value', { params, body: value })
  expect(await call('POST /api/trajectories/{key}/value', { params, body: { ...value, dryRun: true } })).toEqual({
    cost: estimate.cost,
    reward,
  })
  const values = { params: { id: estimate.id } }
  const { points } = await call('POST /api/values/{id}/cancel', values)
  // The estimate may have ended before it was cancelled, and only one with missing samples is resumed.
  for (const key of points[0].keys) await call('DELETE /api/trajectories/{key}', { params: { key } })
  await call('POST /api/values/{id}/resume', values)
  await expect.poll(async () => (await call('GET /api/values/{id}', values)).state).toBe('done')
  for (const { key } of services.store.groupRows(estimate.points[0].groupId))
    await call('DELETE /api/trajectories/{key}', { params: { key } })
  const { estimates } = await call('GET /api/trajectories/{key}/value', { params })
  expect(estimates).toMatchObject([{ id: estimate.id, state: 'done', positions: 1 }])
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }
  const asked = { prompt: 'Which?', schema, sampling: SAMPLING }
  expect(await call('POST /api/trajectories/{key}/structured', { params, body: asked })).toHaveProperty('text')
  await call('PATCH /api/trajectories/{key}', { params, body: { tags: ['tagged'], reward: 1 } })
  const { notes } = await call('POST /api/trajectories/{key}/notes', {
    params,
    body: { start: 0, end: 1, text: 'here' },
  })
  const changed = { text: 'there', before: 'here' }
  await call('PATCH /api/trajectories/{key}/notes/{id}', { params: { ...params, id: notes[0].id }, body: changed })
  await call('GET /api/trajectories/{key}/health', { params })
  const { revision, labels } = await call('GET /api/trajectories/{key}/revision', { params })
  expect(labels).toEqual({ tags: ['tagged'], reward: 1, notes: [{ id: '1', start: 0, end: 1, text: 'there' }] })
  const columns = { advantage: { pairs: [[0, 0.5]], meaning: { quantity: 'advantage' } } }
  expect(await call('PATCH /api/trajectories/{key}/columns', { params, body: { columns } })).toMatchObject({
    columns: [{ name: 'advantage', known: 1 }],
  })
  expect(await call('GET /api/trajectories/{key}/revision', { params })).toEqual({ revision: revision + 1, labels })
  expect(await call('GET /api/trajectories', { query: '?q=Hi&cut=3&groups=folded' })).toMatchObject({ total: 2 })
  await call('GET /api/trajectories/{key}/neighbours', { params })
  expect((await call('GET /api/library')).tags).toEqual([{ tag: 'tagged', count: 1 }])
  await call('GET /api/trajectories/{key}/export', { params })
  await call('GET /api/trajectories/{key}/export', { params, query: '?format=slime' })
  expect(await call('POST /api/export', { body: { keys: [params.key] } })).toHaveLength(1)
  expect(await call('POST /api/export/preview', { body: { keys: [params.key] } })).toMatchObject({ samples: 1 })
  await call('DELETE /api/trajectories/{key}', { params })
  await call('POST /api/trajectories/{key}/restore', { params })
})

test('The rows of groups answer as the table describes', async () => {
  const body = { prompt: 'Hi', sampling: SAMPLING, samples: 2, reward: { kind: 'exact', expected: 'a' } }
  const { groupId: id } = await call('POST /api/groups', { body })
  const lines = await call('GET /api/groups/{id}/events', { params: { id } })
  expect(lines.at(-1)).toMatchObject({ event: { type: 'ended' } })
  expect((await call('GET /api/groups/{id}', { params: { id } })).samples).toHaveLength(2)
  const { revision } = await call('GET /api/groups/{id}/forest', { params: { id }, query: '?advantage=leave-one-out' })
  const query = `?advantage=leave-one-out&known=${revision}`
  expect(await call('GET /api/groups/{id}/forest', { params: { id }, query })).toBeUndefined()
  const keys = lines.flatMap(({ event }: { event: { type: string; trajectory?: { id: string } } }) =>
    event.type === 'started' ? [event.trajectory?.id] : [],
  )
  expect((await call('POST /api/forest', { body: { keys } })).samples).toHaveLength(2)
  await call('PUT /api/groups/{id}/reward', { params: { id }, body: { reward: null } })
  await call('POST /api/groups/{id}/cancel', { params: { id } })
  const servers = { prompt: 'Hi', sampling: SAMPLING, servers: ['built-in'] }
  const { groupId, samples } = await call('POST /api/groups', { body: servers })
  expect(samples).toMatchObject([{ server: 'built-in' }])
  await call('GET /api/groups/{id}/events', { params: { id: groupId } })
  expect(await call('GET /api/groups/{id}/servers', { params: { id: groupId } })).toEqual({
    servers: ['built-in'],
    reference: 'built-in',
    running: 0,
    comparisons: [],
  })
})

test('The rows of sessions answer as the table describes', async () => {
  const { session_id: id } = await call('POST /sessions', { body: { tags: ['session'] } })
  const params = { id }
  const limit = { model: 'm', temperature: 0 }
  await call('POST /sessions/{id}/v1/chat/completions', {
    params,
    body: { ...limit, max_tokens: 4, messages: MESSAGES },
  })
  await call('POST /sessions/{id}/v1/messages', { params, body: { ...limit, max_tokens: 4, messages: MESSAGES } })
  await call('POST /sessions/{id}/v1/responses', { params, body: { ...limit, max_output_tokens: 4, input: 'Hi' } })
  expect((await call('GET /sessions/{id}', { params })).records).toHaveLength(3)
  const { calls: answered, running, revision } = await call('GET /api/sessions/{id}', { params })
  expect(answered).toHaveLength(3)
  expect(running).toEqual([])
  expect((await call('GET /api/sessions/{id}/calls/{call}', { params: { id, call: '1' } })).request).toMatchObject({
    ...limit,
    messages: MESSAGES,
  })
  expect((await call('GET /api/sessions/{id}', { params, query: `?known=${revision}` })).calls).toEqual([])
  expect((await call('GET /api/sessions/{id}/savings', { params, query: '?leaves=all' })).leaves).toHaveLength(3)
  await expect
    .poll(async () => (await call('GET /api/savings')).sessions)
    .toMatchObject([{ id, leaves: 3, rows: expect.any(Number) }])
  expect((await call('GET /api/sessions')).sessions).toMatchObject([{ id, calls: 3, tags: ['session'] }])
  expect(await call('GET /sessions/{id}/trajectories', { params, query: '?leaves=all&mask=once' })).toHaveLength(3)
  expect((await call('GET /sessions/{id}/v1/models', { params })).data).toHaveLength(1)
  await call('PUT /sessions/{id}/reward', { params, body: { reward: 1 } })
  expect(await call('GET /sessions/{id}/{path*}', { params: { id, 'path*': 'model_info' } })).toHaveProperty(
    'model_path',
  )
  const given = { input_ids: [1, 2, 3], sampling_params: SAMPLING }
  expect(await call('POST /sessions/{id}/generate', { params, body: given })).toHaveProperty('text')
  expect((await call('GET /sessions/{id}', { params })).records).toHaveLength(4)
  const tokenized = { params: { id, 'path*': 'tokenize' }, body: { prompt: 'Hi' } }
  expect(await call('POST /sessions/{id}/{path*}', tokenized)).toHaveProperty('tokens')
  await call('PUT /api/sessions', { body: { isPaused: true } })
  await call('POST /sessions/{id}/generate', { params, body: given })
  expect((await call('GET /api/sessions')).isPaused).toBe(true)
  expect((await call('GET /sessions/{id}', { params })).records).toHaveLength(4)
  await call('PUT /api/sessions', { body: { isPaused: false } })
  const left = new AbortController()
  const long = { ...limit, max_tokens: 1000, min_tokens: 1000, messages: MESSAGES }
  const sent = requestFor('POST', `/sessions/${id}/v1/chat/completions`, long)
  const answer = answerRequest(new Request(sent, { signal: left.signal }))
  const replies = async () => (await call('GET /api/sessions/{id}', { params })).running[0]?.nodes ?? []
  await expect.poll(async () => (await replies())[0]?.reply).toBeGreaterThan(0)
  const reply = { params: { id, reply: (await replies())[0].live }, query: '?until=now' }
  const events: readonly { readonly type: string }[] = await call(
    'GET /api/sessions/{id}/replies/{reply}/events',
    reply,
  )
  expect(events.map(({ type }) => type)).toEqual(['started', 'segment-started'])
  left.abort()
  await answer
  await call('DELETE /sessions/{id}', { params })
})

test('The rows of imported files answer as the table describes', async () => {
  const headers = { 'content-type': 'application/octet-stream' }
  const body = readFileSync('public/examples/two-steps.json', 'utf8')
  const { trajectories } = await call('POST /api/import', { query: '?name=two-steps.json', body, headers })
  expect(trajectories).toHaveLength(1)
  expect(await call('POST /api/import/url', { body: { url: `${filesUrl}/two-steps.json` } })).toMatchObject({
    format: 'rollscope',
    trajectories: [expect.any(String)],
  })
  const idsAlone = JSON.stringify({ tokens: [1, 2, 3], response_length: 1, loss_mask: [1], label: '' })
  const bare = await call('POST /api/import', { body: idsAlone, headers })
  const params = { key: bare.trajectories[0] }
  await call('POST /api/trajectories/{key}/tokenizer', { params, body: { tokenizer: 'built-in' } })
  const zeros = {
    tokens: [1, 2, 3, 4, 5],
    response_length: 4,
    loss_mask: [1, 1, 1, 1],
    rollout_log_probs: [0, 0, 0, 0],
  }
  const unmeasured = await call('POST /api/import', { body: JSON.stringify(zeros), headers })
  const repaired = await call('POST /api/trajectories/{key}/repairs', {
    params: { key: unmeasured.trajectories[0] },
    body: { name: 'zero-logprobs-trained' },
  })
  expect(repaired.provenance.repairs).toHaveLength(1)
  const undone = await call('POST /api/trajectories/{key}/repairs', {
    params: { key: unmeasured.trajectories[0] },
    body: { name: 'zero-logprobs-trained', undo: true },
  })
  expect(undone.provenance).not.toHaveProperty('repairs')

  const [key] = trajectories
  expect(
    await call('POST /api/compare', { body: { left: key, right: `${key}~text`, alignedRuns: true } }),
  ).toHaveProperty('report')
  const weighed = { left: params.key, right: `${params.key}~text~tokenizer=built-in`, weigh: {} }
  expect(await call('POST /api/compare', { body: weighed })).toHaveProperty('weighed')
  await call('POST /api/retokenize', { body: { trajectory: params.key, mode: 'text' } })
  await call('POST /api/retokenize', { body: { ids: [1, 2, 3], mode: 'text' } })
})

test('The rows of templates and parsers answer as the table describes', async () => {
  const text = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call><tool_call>{</tool_call>'
  await call('POST /api/parse', { body: { text: `<think>a</think>${text}`, tools: [SPEC] } })
  await call('POST /api/render', { body: { messages: MESSAGES } })
  // The template drops every reply but that of the last turn.
  const template =
    "{% for m in messages %}{% if loop.last or m.role != 'assistant' %}<|{{ m.role }}|>{{ m.content }}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
  expect((await call('POST /api/templates/doctor', { body: { template, messages: MESSAGES } })).cells).not.toEqual([])
  await call('POST /api/templates/fix', { body: { template } })
  expect(await call('POST /api/templates/search', { body: { template, cases: 3 } })).toHaveProperty('kind')
  const checked = await call('POST /api/templates/check', { body: { messages: MESSAGES, renderer: 'server' } })
  expect(checked.verdict).toBe('same')
  await call('POST /api/templates/check', { body: { messages: MESSAGES, renderer: 'python' } })
})

test('The tests of the table call every row', () => {
  expect([...uncalled]).toEqual([])
})

test('Each path of the table refuses methods without a row, and names the methods that it has', async () => {
  for (const path of new Set(routes.map((row) => row.path))) {
    const has = routes.filter((row) => row.path === path).map(({ method }) => method)
    for (const method of METHODS.filter((one) => !has.includes(one))) {
      const answer = await answerRequest(requestFor(method, path))
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, has.join(', ')])
    }
  }
})

test.each<[string, () => unknown]>([
  ['a field of another type', () => ({ a: 'text' })],
  ['a field too many', () => ({ a: 1, b: 2 })],
  ['another status', () => Response.json({ a: 1 }, { status: 202 })],
  ['lines for JSON', () => new Response('{"a":1}\n', { headers: { 'content-type': 'application/x-ndjson' } })],
  ['nothing', () => new Response(null)],
])('A handler that answers %s fails the check of its row', async (_, handle) => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const answers = { 200: { description: '', schema: z.object({ a: z.int() }) } }
  const row: Endpoint = { method: 'GET', path: '/api/a', summary: '', answers, handle }
  const response = await createRouter([row])(requestFor('GET', '/api/a'))
  await expect(checkedAnswer(row, response)).rejects.toThrow()
})
