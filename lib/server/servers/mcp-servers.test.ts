/** Tests MCP servers as runs and pages use them, with a real server package in a separate program. */

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { NamedPlace } from '#lib/mcp/place.ts'
import { ToolFailure } from '#lib/rollout/tools/tool.ts'
import { openMcpServerStore } from '#lib/store/files/servers.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { httpRefusalOf } from '#testing/http-problem.ts'
import { ConfigError } from '../config.ts'
import { chosenTools } from '../runs/tools.ts'
import { configuredMcpServers } from './configured-mcp-servers.ts'
import { createMcpServers, type McpServers } from './mcp-servers.ts'
import { ownAddress } from './own-address.ts'

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const everything: NamedPlace = {
  name: 'everything',
  place: { kind: 'stdio', command: process.execPath, args: [program], env: { KEY: 'secret' }, cwd: undefined },
}
/** The same program, except that it ends when a call says so. */
const other: NamedPlace = {
  name: 'other',
  place: {
    ...everything.place,
    args: [
      '-e',
      `import(${JSON.stringify(program)}); process.stdin.on('data', (said) => String(said).includes('"die"') && process.exit(7))`,
      'x',
      'stdio',
    ],
  } as NamedPlace['place'],
}
const signal = new AbortController().signal
const context = { signal, number: 1, hold() {}, untimed: <T>(waiting: Promise<T>) => waiting }

const own = ownAddress({ host: '127.0.0.1', port: 3000 })

let folder: string
const made: McpServers[] = []
/** All tests share these, because a program takes a third of a second to start. */
let programs: McpServers
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-mcp-'))
  const store = openMcpServerStore(folder)
  programs = createMcpServers([everything, other], store, { fetch: globalThis.fetch, version: '0', own })
})
afterEach(() => Promise.all(made.splice(0).map((one) => one.close())))
afterAll(async () => {
  await programs.close()
  await rm(folder, { recursive: true })
})

function servers(configured: readonly NamedPlace[] = [], fetch = globalThis.fetch): McpServers {
  const one = createMcpServers(configured, openMcpServerStore(folder), { fetch, version: '0', own })
  made.push(one)
  return one
}

describe('A tool of an MCP program', () => {
  test('is listed, recorded with its server, and called', async () => {
    const all = programs
    expect(all.list()).toEqual(
      ['everything', 'other'].map((name) => ({
        name,
        source: 'configuration',
        place: { kind: 'stdio', command: process.execPath },
        hasKey: true,
      })),
    )
    expect(await all.tools('everything', signal)).toContainEqual(
      expect.objectContaining({ name: 'echo', inputSchema: expect.objectContaining({ type: 'object' }) }),
    )
    const spec = await all.spec({ mcp: 'everything', name: 'echo' }, signal)
    expect(spec).toMatchObject({ name: 'echo', mcp: { server: 'everything' } })
    expect(await all.runnable(spec)?.run({ message: 'hi' }, context)).toBe('Echo: hi')
    await expect(all.runnable(spec)?.run({}, context)).rejects.toBeInstanceOf(ToolFailure)
    const { mcp: _, ...none } = spec
    expect(all.runnable(none)).toBeUndefined()
  })

  test('is refused with its name if the server changed it since it was confirmed', async () => {
    const { fingerprint = '' } = (await programs.tools('everything', signal)).find(({ name }) => name === 'echo') ?? {}
    const asked = { mcp: 'everything', name: 'echo' }
    expect(await programs.spec({ ...asked, fingerprint }, signal)).toEqual(await programs.spec(asked, signal))
    expect(await programs.spec(asked, signal)).not.toHaveProperty('fingerprint')
    const changed = { ...asked, fingerprint: fingerprint.replaceAll(/[0-7]/g, 'a') }
    expect(await httpRefusalOf(() => programs.spec(changed, signal))).toEqual([
      422,
      'TOOL_CHANGED',
      'the MCP server everything has changed the description or the schema of its tool "echo" since it was chosen',
    ])
  })

  test('is refused before anything starts if it does not exist', async () => {
    const all = programs
    expect(await httpRefusalOf(() => all.spec({ mcp: 'everything', name: 'nothing' }, signal))).toEqual([
      422,
      'NO_TOOL',
      'the tool "nothing" of the MCP server everything is not available: it offers no tool with that name',
    ])
    const gone: ToolSpec = { name: 'echo', inputSchema: {}, mcp: { server: 'gone' } }
    expect(await httpRefusalOf(() => all.runnable(gone))).toEqual([
      404,
      'NO_MCP_SERVER',
      'there is no MCP server named "gone"',
    ])
  })
})

test('Two MCP servers with a tool of the same name are reported with both names, and a failed call names its server', async () => {
  const all = programs
  const asked = ['everything', 'other'].map((mcp) => ({ mcp, name: 'echo' }))
  expect(await httpRefusalOf(() => chosenTools(asked, { builtInTools: [], mcpServers: all }, signal))).toEqual([
    422,
    'BAD_TOOL',
    'there are two tools named "echo": a tool of the MCP server everything, a tool of the MCP server other',
  ])
  const echo = all.runnable(await all.spec({ mcp: 'other', name: 'echo' }, signal))
  await expect(echo?.run({ message: 'die' }, context)).rejects.toThrow(
    /^the MCP server other gave no result: the connection was closed before the server answered/,
  )
  expect(await echo?.run({ message: 'again' }, context)).toBe('Echo: again')
})

const NO_NAME = '(no name): its name is not a name of 1 to 64 letters, digits, "_" or "-"'

test('The list of an MCP server contains tools that no run can use, with the reason', async () => {
  const odd = path.join(import.meta.dirname, '..', '..', 'mcp', 'test-odd-program.ts')
  const all = servers([{ name: 'odd', place: { ...everything.place, args: [odd] } as NamedPlace['place'] }])
  const tools = await all.tools('odd', signal)
  expect(JSON.stringify(tools).length).toBeLessThan(100_000)
  const obstacles = tools.slice(0, 16).map(({ name, obstacle = '' }) => `${name}: ${obstacle}`)
  expect(obstacles).toEqual([
    'good: ',
    'good: the server offers another tool with that name',
    'has space: its name is not a name of 1 to 64 letters, digits, "_" or "-"',
    '__proto__: ',
    NO_NAME,
    NO_NAME,
    expect.stringMatching(/^no-schema: its input schema: .*expected an object/),
    expect.stringMatching(/^list-schema: its input schema: /),
    expect.stringMatching(/^array-schema: its input schema: .*arguments have names/),
    expect.stringMatching(/^odd-schema: its input schema: properties\.a\.type: /),
    expect.stringMatching(/^far-schema: its input schema: properties\.a\.\$ref: /),
    expect.stringMatching(/^deep-schema: its input schema: .*at most 32 levels/),
    'odd-output: ',
    'output: ',
    NO_NAME,
    NO_NAME,
  ])
})

test('A tool of an MCP server whose name models cannot call has another name, and is called by its own', async () => {
  const odd = path.join(import.meta.dirname, '..', '..', 'mcp', 'test-odd-program.ts')
  const all = servers([{ name: 'odd', place: { ...everything.place, args: [odd] } as NamedPlace['place'] }])
  const tools = (await all.tools('odd', signal)).slice(-4)
  expect(tools.map(({ name, tool, obstacle }) => [name, tool, obstacle])).toEqual([
    [expect.stringMatching(/^files_read_all_[0-9a-f]{8}$/), 'files.read/all', undefined],
    ['files_read_all', undefined, undefined],
    [expect.stringMatching(/^x{55}_[0-9a-f]{8}$/), `${'x'.repeat(99)}1`, undefined],
    [expect.stringMatching(/^x{55}_[0-9a-f]{8}$/), `${'x'.repeat(99)}2`, undefined],
  ])
  expect(tools[2]?.name).not.toBe(tools[3]?.name)
  const spec = await all.spec({ mcp: 'odd', name: 'files.read/all' }, signal)
  expect(spec).toMatchObject({ name: tools[0]?.name, mcp: { server: 'odd', tool: 'files.read/all' } })
  expect(await all.spec({ mcp: 'odd', name: spec.name }, signal)).toEqual(spec)
  expect(await all.runnable(spec)?.run({}, context)).toBe('read')
})

test('An MCP server that does not answer is a problem with the reason', async () => {
  const all = servers([{ name: 'broken', place: { ...everything.place, command: '/no/such' } as NamedPlace['place'] }])
  expect(await httpRefusalOf(() => all.tools('broken', signal))).toEqual([
    502,
    'MCP_FAILED',
    expect.stringMatching(/^the MCP server broken does not answer like an MCP server: .*ENOENT/),
  ])
})

test('A saved MCP server has a key that only the user can read and only that server receives', async () => {
  const keys: (string | null)[] = []
  const all = servers([], async (_url, init) => {
    keys.push(new Headers(init?.headers).get('authorization'))
    return new Response('', { status: 404 })
  })
  const url = 'http://127.0.0.1:8000/mcp?id=7'
  const entry = { name: 'search', source: 'saved', place: { kind: 'http', url: 'http://127.0.0.1:8000/mcp?…' } }
  expect(all.create({ name: 'search', url, apiKey: 'sk-1' })).toEqual({ ...entry, hasKey: true })
  expect(all.list()).toEqual([{ ...entry, hasKey: true }])
  const file = path.join(folder, 'mcp-servers.json')
  expect([(await stat(file)).mode & 0o777, await readFile(file, 'utf8')]).toEqual([
    0o600,
    expect.stringContaining('sk-1'),
  ])
  expect(await httpRefusalOf(() => all.create({ name: 'search', url }))).toEqual([409, 'NAME_TAKEN', expect.anything()])
  expect(await httpRefusalOf(() => all.tools('search', signal))).toEqual([502, 'MCP_FAILED', expect.anything()])
  expect(new Set(keys)).toEqual(new Set(['Bearer sk-1']))
  all.remove('search')
  expect([all.list(), await httpRefusalOf(() => all.remove('search'))]).toEqual([
    [],
    [404, 'NO_MCP_SERVER', expect.anything()],
  ])
  expect(await httpRefusalOf(() => servers([everything]).remove('everything'))).toEqual([
    409,
    'FIXED_SERVER',
    expect.anything(),
  ])
})

test('A removed MCP server gets no further call of a run, while another name of its place continues over the same connection', async () => {
  const requests: { readonly key: string | null; readonly method: string }[] = []
  const all = servers([], async (_url, init) => {
    if (typeof init?.body !== 'string') return new Response('', { status: 405 })
    const { id, method, params } = JSON.parse(init.body)
    requests.push({ key: new Headers(init.headers).get('authorization'), method })
    if (id === undefined) return new Response(null, { status: 202 })
    const result = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: {},
        serverInfo: { name: 's', version: '0' },
      },
      'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'seen' }] },
    }[method as string]
    return Response.json({ jsonrpc: '2.0', id, result })
  })
  const begun = () => requests.filter(({ method }) => method === 'initialize').length
  const url = 'http://127.0.0.1:8000/mcp'
  for (const name of ['one', 'same']) all.create({ name, url, apiKey: 'sk-1' })
  const [one, same] = await Promise.all(
    ['one', 'same'].map(async (mcp) => all.runnable(await all.spec({ mcp, name: 'look' }, signal))),
  )
  expect(await one?.run({}, context)).toBe('seen')
  all.remove('one')
  await expect(one?.run({}, context)).rejects.toThrow('the MCP server one was removed')
  expect(await same?.run({}, context)).toBe('seen')
  expect(begun()).toBe(1)
  all.remove('same')
  const asked = requests.length
  await expect(same?.run({}, context)).rejects.toThrow('the MCP server same was removed')
  expect(requests).toHaveLength(asked)
})

test.each([
  ['http://169.254.169.254/mcp', /link-local/],
  ['http://[::ffff:169.254.169.254]/mcp', /link-local/],
  ['http://user:pw@example.com/mcp', /user name or password/],
  ['file:///etc/passwd', /is not http/],
  ['nonsense', /not a URL/],
  ['http://a/\n', /control character/],
  ['http://a:0/mcp', /port 0/],
  ['http://a/mcp#tools', /a fragment/],
  ['http://127.0.0.1:3000/mcp', /Rollscope itself/],
  ['http://localhost.:3000/sglang', /Rollscope itself/],
])('The MCP server URL %j is refused before any request', async (url, why) => {
  expect(await httpRefusalOf(() => servers().create({ name: 'x', url }))).toEqual([
    400,
    'ADDRESS_REFUSED',
    expect.stringMatching(why),
  ])
})

test('The operator’s file of MCP servers is read at the start, and an error in it ends the start', async () => {
  const file = path.join(folder, 'mcp.json')
  const written = async (text: string) => {
    await writeFile(file, text)
    return () => configuredMcpServers(file, own)
  }
  expect(configuredMcpServers(undefined, own)).toEqual([])
  expect((await written('{"mcpServers": {"a": {"command": "x"}}}'))()).toMatchObject([{ name: 'a' }])
  expect(await written('{"mcpServers": {"a": {}}}')).toThrow(ConfigError)
  expect(await written('{"mcpServers": {"a": {"url": "http://169.254.169.254/"}}}')).toThrow(
    /mcpServers\.a\.url: .*link/,
  )
  expect(() => configuredMcpServers(path.join(folder, 'none.json'), own)).toThrow(/ENOENT/)
})
