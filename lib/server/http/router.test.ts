import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { EngineError } from '#lib/engine/http/errors.ts'
import { StoreError, type StoreErrorCode } from '#lib/store/store-error.ts'
import type { Services } from '../services.ts'
import { shareServices } from '../shared.ts'
import { readJsonBody, readLargeJson, readText } from './body.ts'
import { EMPTY_BODY, type Endpoint, fileBody, jsonBody, NO_BODY } from './endpoint.ts'
import { createRouter } from './router.ts'

/** Returns a router with this single row for the path /. */
const routed = (row: Partial<Endpoint> & Pick<Endpoint, 'handle'>) =>
  createRouter([{ method: 'POST', path: '/', summary: '', answers: { 200: { description: '' } }, ...row }])

const anything = z.record(z.string(), z.unknown())
const read = (body: string) => readJsonBody(new Request('http://127.0.0.1/', { method: 'POST', body }), anything)
const nested = (levels: number, opening = '[', closing = ']') =>
  `{"a":${opening.repeat(levels - 1)}1${closing.repeat(levels - 1)}}`

test('The JSON reader accepts a body of 100 levels', async () => {
  expect(await read(nested(100))).toEqual(JSON.parse(nested(100)))
})

test.each([
  [101, '[', ']', 105],
  [20_000, '[', ']', 105],
  [20_000, '{"b":', '}', 501],
])(
  'The JSON reader refuses a body of %d levels of %s with a problem instead of a stack overflow',
  async (levels, opening, closing, character) => {
    await expect(read(nested(levels, opening, closing))).rejects.toMatchObject({
      details: {
        status: 422,
        code: 'TOO_DEEP',
        detail: `the body is nested deeper than 100 levels, from character ${character}`,
      },
    })
  },
)

test('The JSON reader accepts a larger body for the ids of a long prompt than for other requests', async () => {
  const body = JSON.stringify({ ids: new Array(300_000).fill(30_000) })
  const request = () => new Request('http://127.0.0.1/', { method: 'POST', body })
  expect((await readLargeJson(request(), anything)).ids).toHaveLength(300_000)
  await expect(readJsonBody(request(), anything)).rejects.toMatchObject({ details: { status: 413, code: 'TOO_LARGE' } })
})

test('The router answers a call that needs no body without a body and a content type, but requires the header of changes', async () => {
  shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
  const cancel = routed({ body: NO_BODY, handle: () => ({}) })
  const replace = routed({ body: jsonBody(anything), handle: () => ({}) })
  const headers = { host: 'localhost', authorization: 'Bearer launch-token', 'x-rollscope': '1' }
  const statusOf = async (handler: typeof cancel, init: RequestInit) => {
    const request = new Request('http://localhost/', { method: 'POST', ...init })
    return (await handler(request)).status
  }
  expect(await statusOf(cancel, { headers })).toBe(200)
  expect(await statusOf(cancel, { headers, body: '{}' })).toBe(200)
  expect(await statusOf(cancel, { headers: { ...headers, 'content-type': 'application/json' }, body: '{}' })).toBe(200)
  expect(await statusOf(cancel, { headers: { ...headers, 'x-rollscope': '0' } })).toBe(403)
  expect(await statusOf(cancel, { headers: { host: 'localhost', 'x-rollscope': '1' } })).toBe(401)
  expect(await statusOf(replace, { headers })).toBe(415)
  const remove = routed({ body: EMPTY_BODY, handle: () => ({}) })
  expect(await statusOf(remove, { headers })).toBe(200)
  expect(await statusOf(remove, { headers: { ...headers, 'content-length': '0' } })).toBe(200)
  expect(await statusOf(remove, { headers: { ...headers, 'content-type': 'application/json' }, body: '{}' })).toBe(200)
  expect(await statusOf(remove, { headers, body: 'a=b' })).toBe(415)
  expect(await statusOf(remove, { headers: { ...headers, 'content-length': '3' } })).toBe(415)
  expect(await statusOf(remove, { headers: { ...headers, 'transfer-encoding': 'chunked' } })).toBe(415)
})

/** Returns the answer of a route that fails with an error. */
function answerTo(error: Error) {
  shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
  const failing = routed({
    method: 'GET',
    access: 'origin',
    handle() {
      throw error
    },
  })
  return failing(new Request('http://localhost/', { headers: { host: 'localhost' } }))
}

test.each<[StoreErrorCode, number, number]>([
  ['DISK_FULL', 507, 1],
  ['DATABASE_LOCKED', 503, 1],
  ['SETTINGS_DAMAGED', 500, 1],
  ['DAMAGED', 500, 0],
])(
  'The router answers the store’s failure %s with status %d and its advice, and logs its cause if it concerns the whole store',
  async (code, status, logged) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const error = new StoreError(code, 'what', 'advice', { cause: new Error('first') })
    const answer = await answerTo(error)
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ code, detail: 'what', hint: 'advice' }),
    ])
    expect(log.mock.calls.filter((values) => values.includes(error))).toHaveLength(logged)
    log.mockRestore()
  },
)

const outOfFiles = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })

test.each<[string, Error]>([
  ['a file', outOfFiles],
  ['the store', new StoreError('STORE_FAILED', 'what', 'advice', { cause: outOfFiles })],
  ['a connection to a server', new EngineError('CONNECTION_RESET', 'what', { cause: outOfFiles })],
  ['a thread', new Error('Worker initialization failure: EMFILE')],
])('The router answers the limit of open files that %s meets with 503 and advice that fits', async (_, error) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const answer = await answerTo(error)
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ code: 'TOO_MANY_FILES', hint: expect.stringContaining('ulimit -n') }),
  ])
  expect(log).toHaveBeenCalledWith('too many open files:', error)
  log.mockRestore()
})

test('The body reader refuses a body that ends early, and names both lengths', async () => {
  const request = new Request('http://localhost/', { method: 'POST', headers: { 'content-length': '10' }, body: '{}' })
  await expect(readText(request, 100)).rejects.toMatchObject({
    details: { status: 400, code: 'CUT_BODY', detail: '10 bytes were announced, but 2 arrived' },
  })
})

test.each(['gzip', 'deflate', 'br', 'zstd', 'GZIP, identity'])(
  'The router refuses a body sent as %s by that name, and neither decompresses nor reads it',
  async (encoding) => {
    shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
    const handle = vi.fn(() => ({}))
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: {
        host: 'localhost',
        authorization: 'Bearer launch-token',
        'x-rollscope': '1',
        'content-type': 'application/octet-stream',
        'content-encoding': encoding,
      },
      body: gzipSync(Buffer.alloc(1_000_000)),
    })
    const answer = await routed({ body: fileBody(''), handle })(request)
    expect(answer.status).toBe(415)
    expect(await answer.json()).toMatchObject({
      code: 'BAD_ENCODING',
      detail: expect.stringContaining(encoding.toLowerCase()),
      hint: 'Send the body uncompressed, without Content-Encoding.',
    })
    expect(handle).not.toHaveBeenCalled()
  },
)

const asked = (method: string, path: string) => {
  shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
  const headers = { host: 'localhost', authorization: 'Bearer launch-token', 'x-rollscope': '1' }
  return new Request(`http://localhost${path}`, { method, headers })
}

test('The router gives a handler the decoded parameters of its path, even if a name contains a slash', async () => {
  const router = routed({
    method: 'GET',
    path: '/api/a/{name}/b/{key}',
    handle: ({ params, request }) => ({ params, method: request.method }),
  })
  const answer = await router(asked('GET', '/api/a/x%2Fy%20%25/b/%E2%82%AC?name=no'))
  expect([answer.status, await answer.json()]).toEqual([200, { params: { name: 'x/y %', key: '€' }, method: 'GET' }])
  expect((await router(asked('HEAD', '/api/a/x/b/y'))).status).toBe(200)
  expect((await router(asked('GET', '/api/a/x/b/y/'))).status).toBe(200)
})

test.each([['/api/a'], ['/api/a//'], ['/api/a/x/y'], ['/api/b/x'], ['/api/a/%zz'], ['/']])(
  'The router answers %s, which no row has, with NO_ROUTE',
  async (path) => {
    const answer = await routed({ method: 'GET', path: '/api/a/{name}', handle: () => ({}) })(asked('GET', path))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect(await answer.json()).toMatchObject({ code: 'NO_ROUTE', hint: 'GET /api/openapi.json lists all routes.' })
  },
)

test('The router refuses a method that a path lacks, names its methods, and calls no handler', async () => {
  const handle = vi.fn(() => ({}))
  const row = { path: '/api/a', summary: '', answers: { 200: { description: '' } }, handle }
  const router = createRouter([
    { ...row, method: 'GET' },
    { ...row, method: 'PUT' },
  ])
  const answer = await router(asked('DELETE', '/api/a'))
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, PUT'])
  expect(await answer.json()).toMatchObject({
    code: 'METHOD',
    detail: 'the method DELETE is not allowed for /api/a',
    hint: 'Methods: GET, PUT.',
  })
  expect(handle).not.toHaveBeenCalled()
})

test('The router reveals no path to a caller without the launch token', async () => {
  const router = routed({ method: 'GET', path: '/api/a', handle: () => ({}) })
  for (const [method, path] of [
    ['GET', '/api/a'],
    ['POST', '/api/a'],
    ['GET', '/api/none'],
  ] as const) {
    const request = asked(method, path)
    request.headers.delete('authorization')
    expect((await router(request)).status).toBe(401)
  }
})

test('The router answers without a body if a handler returns nothing, and sends a value with the first status of its row', async () => {
  const answers = { 201: { description: '', schema: anything } }
  const made = await routed({ method: 'GET', answers, handle: () => ({ a: 1 }) })(asked('GET', '/'))
  expect([made.status, made.headers.get('cache-control'), await made.json()]).toEqual([201, 'no-store', { a: 1 }])
  const gone = await routed({ method: 'GET', answers: { 204: { description: '' } }, handle() {} })(asked('GET', '/'))
  expect([gone.status, await gone.text()]).toEqual([204, ''])
})
