import { createServer } from 'node:http'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openServerStore, type ServerStore } from '#lib/store/files/servers.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { problemOf } from '#testing/http-problem.ts'
import { closeServer, listening } from '#testing/listening.ts'
import { readConfig } from '../config.ts'
import { createServers, type Servers, serverInputSchema } from './servers.ts'

let folder: string
let store: ServerStore
let servers: Servers
beforeEach(() => {
  folder = folderOfTest()
  store = openServerStore(folder)
  servers = createServers(readConfig({ PORT: '3000', ROLLSCOPE_DATA: folder }, folder), store)
})

const gpu = { name: 'gpu', baseUrl: 'http://10.0.0.1:30000' }
const keyOf = (name: string) => store.list().find((server) => server.name === name)?.apiKey

describe('The key of a saved server', () => {
  beforeEach(() => {
    servers.create({ ...gpu, apiKey: 'sk-1' })
  })

  test('stays while the origin stays, and is removed with it', () => {
    expect(servers.replace('gpu', { ...gpu, baseUrl: 'http://10.0.0.1:30000/v2' }).hasKey).toBe(true)
    expect(servers.replace('gpu', { ...gpu, baseUrl: 'http://10.0.0.2:30000' }).hasKey).toBe(false)
    expect(servers.replace('gpu', gpu).hasKey).toBe(false)
  })

  test('is replaced by a new one, and removed by null', () => {
    servers.replace('gpu', { ...gpu, apiKey: 'sk-2' })
    expect(keyOf('gpu')).toBe('sk-2')
    expect(servers.replace('gpu', { ...gpu, apiKey: null }).hasKey).toBe(false)
    expect(keyOf('gpu')).toBeUndefined()
  })

  test('is used for another origin only if it is given again', () => {
    servers.replace('gpu', { name: 'gpu', baseUrl: 'http://10.0.0.2', apiKey: 'sk-3' })
    expect(keyOf('gpu')).toBe('sk-3')
  })

  test('stays with a server that is renamed', () => {
    servers.replace('gpu', { ...gpu, name: 'large' })
    expect([keyOf('large'), keyOf('gpu')]).toEqual(['sk-1', undefined])
  })
})

test('The status of the built-in server may take minutes, because it answers when its model is loaded', async () => {
  const { promise: isLoaded, resolve: load } = Promise.withResolvers<void>()
  const requested = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    requested.resolve()
    await isLoaded
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(request.url === '/sglang/model_info' ? '{"model_path": "tiny"}' : '{}')
  })
  onTestFinished(() => closeServer(server))
  const config = readConfig({ PORT: String(await listening(server)), ROLLSCOPE_DATA: folder }, folder)
  const client = createServers(config, store).client('built-in')
  onTestFinished(() => client.close())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const description = client.describe(new AbortController().signal)
  await requested.promise
  vi.advanceTimersByTime(10 * 60_000)
  load()
  expect((await description).modelName).toBe('tiny')
})

test('The list of servers keeps the position of a changed server', () => {
  for (const name of ['a', 'b', 'c']) servers.create({ ...gpu, name })
  servers.replace('b', { ...gpu, name: 'z' })
  expect(servers.list().map(({ name }) => name)).toEqual(['built-in', 'a', 'z', 'c'])
})

describe('A server that cannot be saved is refused with its field if', () => {
  test.each(['built-in', 'environment', 'gpu'])('the name %s is taken', (name) => {
    servers.create(gpu)
    expect(problemOf(() => servers.create({ ...gpu, name }))).toMatchObject({ code: 'NAME_TAKEN', field: 'name' })
  })

  test('its address can belong to no server', () => {
    expect(problemOf(() => servers.create({ ...gpu, baseUrl: 'http://169.254.169.254' }))).toMatchObject({
      status: 400,
      code: 'ADDRESS_REFUSED',
      field: 'baseUrl',
    })
  })
})

describe('The name of a server', () => {
  const nameOf = (name: string) => serverInputSchema.safeParse({ ...gpu, name }).data?.name

  test.each(['a', 'Büro 2', '四号 A100', 'सर्वर', 'h100.eu-west_1', '8', 'x'.repeat(60)])('may be %s', (name) => {
    expect(nameOf(name)).toBe(name)
  })

  test('is normalized to one composed form', () => {
    expect(nameOf('Bu\u0308ro')).toBe('Büro')
  })

  test.each(['', ' a', 'a ', '.a', '../a', 'a/b', 'a?b', 'a\u200bb', 'a\nb', 'a"b', 'x'.repeat(61)])(
    'may not be %j',
    (name) => {
      expect(nameOf(name)).toBeUndefined()
    },
  )
})

test('A server that was removed is reported with what to do', () => {
  const servers = createServers(readConfig({ ROLLSCOPE_DATA: folder }, folder), store)
  expect(() => servers.client('gone')).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ code: 'NO_SERVER', hint: expect.stringContaining('choose another server') }),
    }),
  )
})
