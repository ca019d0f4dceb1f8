import { afterEach, expect, test, vi } from 'vitest'
import { saveServers } from './servers.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('of several servers one that is refused is told, and the others are saved', async () => {
  const calls: string[] = []
  vi.stubGlobal('fetch', async (path: string, { method, body }: RequestInit) => {
    const { name, baseUrl } = JSON.parse(String(body))
    calls.push(`${method} ${path} ${name}`)
    return name === 'bad'
      ? Response.json({ code: 'ADDRESS_REFUSED', detail: 'link-local' }, { status: 400 })
      : Response.json({ name, baseUrl, source: 'saved', hasKey: false })
  })
  const baseUrl = 'http://a'
  const refused = await saveServers([
    { input: { name: 'bad', baseUrl }, replaced: undefined },
    { input: { name: 'moved', baseUrl }, replaced: 'moved' },
    { input: { name: 'new', baseUrl }, replaced: undefined },
  ])
  expect(calls).toEqual(['POST /api/servers bad', 'PUT /api/servers/moved moved', 'POST /api/servers new'])
  expect([...refused].map(([name, { message }]) => [name, message])).toEqual([['bad', 'link-local']])
})
