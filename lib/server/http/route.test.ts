import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { StoreError, type StoreErrorCode } from '#lib/store/store-error.ts'
import type { Services } from '../services.ts'
import { shareServices } from '../shared.ts'
import { json, readJson, readLargeJson, readText, route } from './route.ts'

const anything = z.record(z.string(), z.unknown())
const read = (body: string) => readJson(new Request('http://127.0.0.1/', { method: 'POST', body }), anything)
const nested = (levels: number, opening = '[', closing = ']') =>
  `{"a":${opening.repeat(levels - 1)}1${closing.repeat(levels - 1)}}`

test('a body of 100 levels is read', async () => {
  expect(await read(nested(100))).toEqual(JSON.parse(nested(100)))
})

test.each([
  [101, '[', ']', 105],
  [20_000, '[', ']', 105],
  [20_000, '{"b":', '}', 501],
])('one of %d levels of %s is refused, not thrown over', async (levels, opening, closing, character) => {
  await expect(read(nested(levels, opening, closing))).rejects.toMatchObject({
    details: {
      status: 422,
      code: 'TOO_DEEP',
      detail: `the body is nested deeper than 100 levels, from character ${character} on`,
    },
  })
})

test('a body with the ids of a long prompt may be larger than another body', async () => {
  const body = JSON.stringify({ ids: new Array(300_000).fill(30_000) })
  const request = () => new Request('http://127.0.0.1/', { method: 'POST', body })
  expect((await readLargeJson(request(), anything)).ids).toHaveLength(300_000)
  await expect(readJson(request(), anything)).rejects.toMatchObject({ details: { status: 413, code: 'TOO_LARGE' } })
})

test('a call that needs no body is answered without one and without a content type, behind the header of changes', async () => {
  shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
  const cancel = route({ changes: 'without body' }, () => json({}))
  const replace = route({ changes: 'application/json' }, () => json({}))
  const headers = { host: 'localhost', authorization: 'Bearer launch-token', 'x-rollscope': '1' }
  const statusOf = async (handler: typeof cancel, init: RequestInit) => {
    const request = new Request('http://localhost/', { method: 'POST', ...init })
    return (await handler(request, { params: Promise.resolve({}) })).status
  }
  expect(await statusOf(cancel, { headers })).toBe(200)
  expect(await statusOf(cancel, { headers, body: '{}' })).toBe(200)
  expect(await statusOf(cancel, { headers: { ...headers, 'content-type': 'application/json' }, body: '{}' })).toBe(200)
  expect(await statusOf(cancel, { headers: { ...headers, 'x-rollscope': '0' } })).toBe(403)
  expect(await statusOf(cancel, { headers: { host: 'localhost', 'x-rollscope': '1' } })).toBe(401)
  expect(await statusOf(replace, { headers })).toBe(415)
})

test.each<[StoreErrorCode, number, number]>([
  ['DISK_FULL', 507, 1],
  ['DATABASE_LOCKED', 503, 1],
  ['SETTINGS_DAMAGED', 500, 1],
  ['DAMAGED', 500, 0],
])(
  'The store’s failure %s is a problem of status %d with its advice; its cause is in the log where it concerns the whole store',
  async (code, status, logged) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
    const error = new StoreError(code, 'what', 'advice', { cause: new Error('first') })
    const failing = route({ access: 'origin' }, () => {
      throw error
    })
    const answer = await failing(new Request('http://localhost/', { headers: { host: 'localhost' } }), {
      params: Promise.resolve({}),
    })
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ code, detail: 'what', hint: 'advice' }),
    ])
    expect(log.mock.calls.filter((values) => values.includes(error))).toHaveLength(logged)
    log.mockRestore()
  },
)

test('a body that ends early is refused, with both lengths', async () => {
  const request = new Request('http://localhost/', { method: 'POST', headers: { 'content-length': '10' }, body: '{}' })
  await expect(readText(request, 100)).rejects.toMatchObject({
    details: { status: 400, code: 'CUT_BODY', detail: '10 bytes were announced, 2 arrived' },
  })
})

test.each(['gzip', 'deflate', 'br', 'zstd', 'GZIP, identity'])(
  'a body sent as %s is refused by that name, and nothing of it is decompressed or read',
  async (encoding) => {
    shareServices({ config: { hosts: [], token: 'launch-token' } } as unknown as Services)
    const handle = vi.fn(() => json({}))
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
    const handler = route({ changes: 'application/octet-stream' }, handle)
    const answer = await handler(request, { params: Promise.resolve({}) })
    expect(answer.status).toBe(415)
    expect(await answer.json()).toMatchObject({
      code: 'BAD_ENCODING',
      detail: expect.stringContaining(encoding.toLowerCase()),
      hint: 'Send the body as it is, without Content-Encoding.',
    })
    expect(handle).not.toHaveBeenCalled()
  },
)
