/** Tests against a real MCP server package, over both transports. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { McpError } from './mcp-error.ts'
import type { McpPlace } from './place.ts'
import { createMcpServer, type McpServer } from './server.ts'

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const stdio: Extract<McpPlace, { kind: 'stdio' }> = {
  kind: 'stdio',
  command: process.execPath,
  args: [program, 'stdio'],
  env: {},
  cwd: undefined,
}
const signal = new AbortController().signal
const made: McpServer[] = []
const server = (place: McpPlace, fetch = globalThis.fetch): McpServer => {
  const one = createMcpServer(place, { fetch, version: '0' })
  made.push(one)
  return one
}
afterEach(async () => {
  await Promise.all(made.splice(0).map((one) => one.close()))
})

/** Tests that leave a server unchanged share it, because a program takes a third of a second to start. */
const lasting: McpServer[] = []
const shared = (place: McpPlace): McpServer => {
  const one = createMcpServer(place, { fetch, version: '0' })
  lasting.push(one)
  return one
}
const overStdio = shared(stdio)

/** Returns arguments that run a program with another one, and a function that returns the process id of its last start. */
async function withPid(script: string, argument: string) {
  const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'rollscope-mcp-')), 'pid')
  onTestFinished(() => rm(path.dirname(file), { recursive: true }))
  const telling = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); import(${JSON.stringify(script)})`
  return { args: ['-e', telling, 'x', argument], pid: async () => Number(await readFile(file, 'utf8')) }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let http: { readonly url: string; readonly stop: () => Promise<void> }
beforeAll(async () => {
  http = await startHttp()
})
afterAll(async () => {
  await Promise.all(lasting.map((one) => one.close()))
  await http.stop()
})

/** The program does not report its port, so it is changed to print it. */
const SAY_PORT = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net'
  const { listen } = Server.prototype
  Server.prototype.listen = function (...all) {
    this.once('listening', () => console.log(JSON.stringify(this.address())))
    return listen.apply(this, all)
  }`)}`

async function startHttp(): Promise<typeof http> {
  const child = spawn(process.execPath, ['--import', SAY_PORT, program, 'streamableHttp'], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const lines = createInterface(child.stdout)
  for await (const line of lines) {
    if (!line.startsWith('{')) continue
    child.stdout.resume()
    return {
      url: `http://127.0.0.1:${JSON.parse(line).port}/mcp`,
      async stop() {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      },
    }
  }
  throw new Error('the program ended before it listened')
}

describe.each(['stdio', 'http'] as const)('an MCP server over %s', (kind) => {
  let one: McpServer
  beforeAll(() => {
    one = kind === 'stdio' ? overStdio : shared({ kind: 'http', url: http.url, headers: {} })
  })

  test('lists its tools and runs calls concurrently', async () => {
    const tools = await one.tools(signal)
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: expect.stringMatching(/echo/i),
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    })
    const [echoed, sum] = await Promise.all([
      one.call('echo', { message: 'Grüße, 世界' }, signal),
      one.call('get-sum', { a: 2, b: 3.5 }, signal),
    ])
    expect([echoed.text, echoed.isError]).toEqual(['Echo: Grüße, 世界', false])
    expect(sum.text).toContain('5.5')
  })

  test('returns error results for refused calls and unknown tools', async () => {
    expect(await one.call('get-sum', { a: 'two' }, signal)).toMatchObject({ isError: true })
    expect(await one.call('no-such-tool', {}, signal)).toMatchObject({
      isError: true,
      text: expect.stringContaining('no-such-tool'),
    })
  })

  test('ignores an abandoned call and serves the next on the same connection', async () => {
    await one.tools(signal)
    const own = new AbortController()
    const call = one.call('trigger-long-running-operation', { duration: 60, steps: 60 }, own.signal)
    own.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect((await one.call('echo', { message: 'on' }, signal)).text).toBe('Echo: on')
  })

  test('shares one connection between eight runs, each of which gets its own results while others abandon calls', async () => {
    const run = async (number: number) => {
      const late = new AbortController()
      // A timeout ends the call of every other run.
      const long = one.call(
        'trigger-long-running-operation',
        { duration: number % 2 ? 60 : 0.05, steps: 1 },
        late.signal,
      )
      const results = await Promise.all(
        [1, 2, 3, 4].map((turn) => one.call('echo', { message: `run ${number}, turn ${turn}` }, signal)),
      )
      if (number % 2) late.abort(new Error('enough'))
      const ended = await long.then(
        () => 'answered',
        (error: Error) => error.message.match(/enough/)?.[0],
      )
      return [...results.map(({ text }) => text), ended]
    }
    const numbers = [0, 1, 2, 3, 4, 5, 6, 7]
    expect(await Promise.all(numbers.map(run))).toEqual(
      numbers.map((number) => [
        ...[1, 2, 3, 4].map((turn) => `Echo: run ${number}, turn ${turn}`),
        number % 2 ? 'enough' : 'answered',
      ]),
    )
  })

  test('reconnects on the next call after it was released', async () => {
    await one.tools(signal)
    await one.close()
    expect((await one.call('echo', { message: 'again' }, signal)).text).toBe('Echo: again')
  })
})

test('An MCP result names blocks that are not text, and structured results become text', async () => {
  const { text } = await overStdio.call('get-tiny-image', {}, signal)
  expect(text).toMatch(/\[image, image\/png, [\d]+ bytes: not shown\]/)
  const weather = await overStdio.call('get-structured-content', { location: 'New York' }, signal)
  expect(JSON.parse(weather.text)).toMatchObject({ conditions: expect.any(String) })
})

test('An MCP program gets only the given variables and those that every program needs', async () => {
  vi.stubEnv('SGLANG_API_KEY', 'sk-secret')
  const one = server({ ...stdio, env: { GIVEN: 'yes' } })
  const { text } = await one.call('get-env', {}, signal)
  vi.unstubAllEnvs()
  expect(JSON.parse(text)).toMatchObject({ GIVEN: 'yes', PATH: process.env.PATH })
  expect(text).not.toContain('sk-secret')
})

test('An abandoned MCP call is cancelled at the server by its number', async () => {
  const sent: { readonly id?: number; readonly method: string; readonly params: { readonly requestId?: number } }[] = []
  const one = server({ kind: 'http', url: http.url, headers: {} }, async (url, init) => {
    if (typeof init?.body === 'string') sent.push(JSON.parse(init.body))
    return fetch(url, init)
  })
  await one.tools(signal)
  const own = new AbortController()
  const call = one.call('trigger-long-running-operation', { duration: 60, steps: 60 }, own.signal)
  const other = one.call('echo', { message: 'on' }, signal)
  await expect.poll(() => sent.filter(({ method }) => method === 'tools/call')).toHaveLength(2)
  own.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
  await expect
    .poll(() => sent.filter(({ method }) => method === 'notifications/cancelled').map(({ params }) => params.requestId))
    .toEqual([sent.find(({ method }) => method === 'tools/call')?.id])
  expect((await other).text).toBe('Echo: on')
})

describe('an MCP server with invalid answers', () => {
  const odd = (how = ''): McpPlace => ({
    ...stdio,
    args: [path.join(import.meta.dirname, 'test-odd-program.ts'), how],
  })
  const one = shared(odd())

  test('loses only its invalid tools, however many there are', async () => {
    const tools = await one.tools(signal)
    expect(tools).toHaveLength(220)
    expect(tools.filter(({ name }) => name === '(no name)')).toHaveLength(4)
    expect(tools.find(({ name }) => name === 'odd-output')).toBeDefined()
  })

  test.each([
    ['endless', 'the server’s list of tools has more than 100 pages'],
    ['countless', 'the server offers more than 1000 tools'],
  ])('is refused if its list never ends (%s)', async (how, why) => {
    const thrown = await server(odd(how))
      .tools(signal)
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(McpError)
    expect(thrown).toHaveProperty('message', why)
  })

  test.each([
    ['surrogate', 'a\ufffdb'],
    [
      'blocks',
      '[text: cannot be read, not shown]\n[video: cannot be read, not shown]\n[image: cannot be read, not shown]\n' +
        '[image: cannot be read, not shown]\n[resource: cannot be read, not shown]\nwhole\n' +
        '[block without a type: cannot be read, not shown]\n[block without a type: cannot be read, not shown]',
    ],
    ['nothing', ''],
    ['list', '[the content is not a list, and is not shown]'],
    ['structured', '{"a":1}'],
    ['old', '{"a":1}'],
  ])('yields as much of its invalid result (%s) as can be read', async (of, text) => {
    expect(await one.call('good', { of }, signal)).toEqual({ text, isError: false })
  })

  test('delivers a result of five megabytes completely', async () => {
    expect((await one.call('good', { of: 'text' }, signal)).text).toHaveLength(5_000_000)
  })

  test('is closed with the reason if one message is too large, and is opened again on the next call', async () => {
    await expect(one.call('good', { of: 'huge' }, signal)).rejects.toThrow(
      'the program sent a message of more than 10 MiB, and its connection was closed',
    )
    expect((await one.call('good', { of: 'structured' }, signal)).text).toBe('{"a":1}')
  })
})

describe('A connection to an MCP server', () => {
  test.each<[string, McpPlace, RegExp]>([
    ['no such program', { ...stdio, command: '/no/such/program' }, /ENOENT/],
    [
      'a program that ends, with its last words',
      { ...stdio, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
      /closed.*it printed: no licence/s,
    ],
    ['nobody there', { kind: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} }, /fetch failed: /],
  ])('fails with the reason in case of %s', async (_what, place, why) => {
    const error = await server(place)
      .tools(signal)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
    expect(error).toBeInstanceOf(McpError)
    expect((error as Error).message).toMatch(why)
  })

  test('is tried again on the next call after a failure', async () => {
    let refused = 0
    const one = server({ kind: 'http', url: http.url, headers: {} }, async (...call) => {
      if (refused++ === 0) throw new TypeError('not yet')
      return fetch(...call)
    })
    await expect(one.tools(signal)).rejects.toThrow('not yet')
    expect((await one.tools(signal)).length).toBeGreaterThan(5)
  })

  test('is opened again for all who share it when a server over HTTP has restarted', async () => {
    const before = await startHttp()
    onTestFinished(before.stop)
    let begun = 0
    let url = before.url
    // Two processes use the same address in turn; the second does not know the sessions of the first.
    const one = server({ kind: 'http', url, headers: {} }, (_, init) => {
      if (typeof init?.body === 'string' && init.body.includes('"initialize"')) begun++
      return fetch(url, init)
    })
    await one.tools(signal)
    await before.stop()
    await expect(one.call('echo', { message: 'down' }, signal)).rejects.toThrow('fetch failed')
    url = http.url
    const said = await Promise.all(['a', 'b', 'c'].map((message) => one.call('echo', { message }, signal)))
    expect(said.map(({ text }) => text)).toEqual(['Echo: a', 'Echo: b', 'Echo: c'])
    expect(begun).toBe(2)
  })

  test('refuses a result over HTTP of more than 10 MiB, and stays open', async () => {
    const one = server({ kind: 'http', url: http.url, headers: {} }, async (url, init) => {
      if (typeof init?.body !== 'string' || !init.body.includes('"huge"')) return fetch(url, init)
      const { id } = JSON.parse(init.body)
      const result = { content: [{ type: 'text', text: 'x'.repeat(11_000_000) }] }
      return Response.json({ jsonrpc: '2.0', id, result })
    })
    await expect(one.call('echo', { message: 'huge' }, signal)).rejects.toThrow(
      new McpError('the result has more than 10 MiB of text'),
    )
    expect((await one.call('echo', { message: 'small' }, signal)).text).toBe('Echo: small')
  })

  test('stays open for others after a refused request, which is sent at most twice', async () => {
    let refused = 0
    const one = server({ kind: 'http', url: http.url, headers: {} }, async (url, init) => {
      if (typeof init?.body !== 'string' || !init.body.includes('"refuse me"')) return fetch(url, init)
      refused++
      return new Response('no', { status: 400 })
    })
    await one.tools(signal)
    const long = one.call('trigger-long-running-operation', { duration: 0.5, steps: 1 }, signal)
    await expect(one.call('echo', { message: 'refuse me' }, signal)).rejects.toThrow(McpError)
    expect(refused).toBe(2)
    expect((await long).isError).toBe(false)
    expect((await one.call('echo', { message: 'on' }, signal)).text).toBe('Echo: on')
  })

  test('is opened again for a list of tools if the program turns out to have ended', async () => {
    // The first process answers one list, and ends when the second is requested.
    const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'rollscope-mcp-')), 'lists')
    onTestFinished(() => rm(path.dirname(file), { recursive: true }))
    const one = server({ ...stdio, args: [path.join(import.meta.dirname, 'test-odd-program.ts'), 'ends', file] })
    expect(await one.tools(signal)).toHaveLength(1)
    expect(await one.tools(signal)).toHaveLength(1)
    expect(await readFile(file, 'utf8')).toBe('list\nlist\nlist\n')
  })

  test('is opened again on the next call after the program was killed', async () => {
    const { args, pid } = await withPid(program, 'stdio')
    const one = server({ ...stdio, args })
    await one.tools(signal)
    const lost = one.call('trigger-long-running-operation', { duration: 60, steps: 60 }, signal)
    process.kill(await pid(), 'SIGKILL')
    await expect(lost).rejects.toThrow(/closed/)
    expect((await one.tools(signal)).length).toBeGreaterThan(5)
  })

  test('ends a program that sends messages without end while nobody uses it', async () => {
    const { args, pid } = await withPid(path.join(import.meta.dirname, 'test-odd-program.ts'), 'floods')
    const one = server({ ...stdio, args })
    expect((await one.tools(signal)).length).toBeGreaterThan(5)
    const flooding = await pid()
    await expect.poll(() => isRunning(flooding), { timeout: 30_000 }).toBe(false)
    expect((await one.tools(signal)).length).toBeGreaterThan(5)
    expect(await pid()).not.toBe(flooding)
  })
})
