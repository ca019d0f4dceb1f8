/** Tests `rollscope run` with real programs and an HTTP server in place of the application. */
import { realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { command } from './command.ts'
import type { RunningApplication } from './environment.ts'

const TOKEN = 'token-of-the-application'
beforeEach(() => {
  // Node's own fetch sends requests, and the token in them, to the proxy of the environment if NODE_USE_ENV_PROXY is set.
  vi.stubGlobal('fetch', () => Promise.reject(new Error('sent to a proxy')))
})
afterEach(() => vi.unstubAllEnvs())

const session = {
  id: 'ses_1',
  createdAt: '2026-01-01T00:00:00.000Z',
  mode: 'tito',
  server: null,
  state: 'live',
  running: 0,
  client: null,
  protocols: ['chat'],
  model: null,
  lastCallAt: null,
  calls: 2,
  failedCalls: 1,
  tokens: 30,
  leaves: 1,
  drifts: 0,
  malformedCalls: 0,
  truncated: 0,
  cachedShare: null,
  tokensPerSecond: null,
  reward: null,
  group: null,
  tags: [],
}

/** Starts an application with one session, which records the requests. */
async function application(status = 200, { calls = session.calls, readStatus = status } = {}) {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization} ${await text(request)}`.trim())
    const answer =
      request.method === 'POST' ? { session_id: 'ses_1' } : { session: { ...session, calls }, calls: [], running: [] }
    if (request.method === 'DELETE') return response.writeHead(204).end()
    const problem = { detail: 'there is no server named "x"', hint: 'Choose another.' }
    const answered = request.method === 'POST' ? status : readStatus
    return response
      .writeHead(answered, { 'content-type': 'application/json' })
      .end(JSON.stringify(answered === 200 ? answer : problem))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const running = { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: TOKEN }
  return { received, running }
}

async function run(
  args: readonly string[],
  { runs, starts, folder = '.' }: { runs?: RunningApplication; starts?: RunningApplication; folder?: string },
) {
  let complaint = ''
  let running = runs
  let isStopped = false
  const status = await command(['run', ...args], {
    folder,
    places: { builtIn: {}, folders: [], hub: { url: undefined, token: undefined, cacheFolder: undefined } },
    builtIn: 'tiny',
    input: Readable.from([]),
    print: () => {},
    complain: (line) => {
      complaint += line
    },
    version: '0',
    start: async () => {
      running = starts
      vi.stubEnv('SET_BY_THE_APPLICATION', '1')
    },
    stop: () => {
      isStopped = true
    },
    running: () => (running ? [running] : []),
  })
  return { status, complaint, isStopped }
}

/** A program that ends with 7 if it has the variables of the session. */
const program = (address: string) => [
  process.execPath,
  '-e',
  `const { OPENAI_BASE_URL: a, OPENAI_API_KEY: b, ANTHROPIC_BASE_URL: c, ANTHROPIC_API_KEY: d } = process.env
  process.exit(a === '${address}/sessions/ses_1/v1' && c === '${address}/sessions/ses_1' && b === '${TOKEN}' && d === b ? 7 : 1)`,
]

test('rollscope run gives a program the address and the key of a new session, and returns its exit status', async () => {
  const { received, running } = await application()
  const { status, complaint, isStopped } = await run(['--mode', 'observe', '--', ...program(running.address)], {
    runs: running,
  })
  expect(received).toEqual([
    `POST /sessions Bearer ${TOKEN} {"mode":"observe"}`,
    `GET /api/sessions/ses_1 Bearer ${TOKEN}`,
  ])
  expect(complaint).toBe(
    `Session ses_1: ${running.address}/sessions/ses_1?token=${TOKEN}\nSession ses_1: 2 calls, 1 failed, 30 tokens, 1 leaf\n`,
  )
  expect([status, isStopped]).toEqual([7, false])
})

test('rollscope run starts an application if none runs, and stops it after the program', async () => {
  const { running } = await application()
  expect(await run(['--', ...program(running.address)], { starts: running })).toMatchObject({
    status: 7,
    isStopped: true,
  })
})

test('rollscope run starts a program in the folder of its caller, without the variables that the application sets', async () => {
  const { running } = await application()
  const folder = realpathSync(os.tmpdir())
  const check = `process.exit(process.cwd() === '${folder}' && !process.env.SET_BY_THE_APPLICATION ? 7 : 1)`
  const { status } = await run(['--', process.execPath, '-e', check], { starts: running, folder })
  expect(status).toBe(7)
})

test.each<[string[], number, string]>([
  [[], 2, 'requires -- and a COMMAND'],
  [['python'], 2, 'requires -- and a COMMAND'],
  [['--colour', 'red', '--', 'true'], 2, 'no option --colour'],
  [['--server', '--', 'true'], 2, '--server requires a value'],
])('rollscope run %j is refused', async (args, status, words) => {
  const { running } = await application()
  const result = await run(args, { runs: running })
  expect(result.status).toBe(status)
  expect(result.complaint).toContain(words)
})

test('rollscope run reports why no session was opened, and a program that does not exist', async () => {
  const refusing = await application(404)
  expect(await run(['--server', 'x', '--', 'true'], { runs: refusing.running })).toMatchObject({
    status: 3,
    complaint: 'no session: there is no server named "x"\n  Choose another.\n',
  })
  const gone = await run(['--', 'true'], { runs: { address: 'http://127.0.0.1:9', token: TOKEN } })
  expect([gone.status, gone.complaint]).toEqual([3, expect.stringMatching(/^no session: fetch failed: .+\n$/)])
})

const REMOVED = 'No call of a model was recorded, so the session was removed.'
test.each<[string, readonly string[], number, string]>([
  ['is not there', ['./no-such-program'], 127, './no-such-program cannot be started: there is no such program\n'],
  ['is not executable', ['./package.json'], 126, './package.json cannot be started: '],
  [
    'a signal ends',
    [process.execPath, '-e', 'process.kill(process.pid, "SIGKILL"); setInterval(() => {})'],
    137,
    REMOVED,
  ],
  ['makes no call', [process.execPath, '-e', ''], 0, REMOVED],
])(
  'rollscope run returns the status of a shell for a program that %s, and removes its session without a call',
  async (_, args, status, words) => {
    const { received, running } = await application(200, { calls: 0 })
    const result = await run(['--', ...args], { runs: running })
    expect([result.status, result.complaint]).toEqual([status, expect.stringContaining(words)])
    expect(received.at(-1)).toBe(`DELETE /sessions/ses_1 Bearer ${TOKEN}`)
  },
)

test('rollscope run returns the status of a program whose session was deleted meanwhile, and says why there is no summary', async () => {
  const { running } = await application(200, { readStatus: 404 })
  const result = await run(['--', process.execPath, '-e', 'process.exit(5)'], { runs: running })
  expect([result.status, result.complaint]).toEqual([5, expect.stringContaining('there is no server named "x"')])
})
