/** Tests `rollscope open` with real files and an HTTP server in place of the application. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { ImportResult } from '#lib/api/imported.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { command } from './command.ts'
import type { RunningApplication } from './environment.ts'

const TOKEN = 'token-of-the-application'
const SENT = { authorization: `Bearer ${TOKEN}`, type: 'application/octet-stream' }
let folder: string
beforeEach(() => {
  // Node's own fetch sends requests, and the token in them, to the proxy of the environment if NODE_USE_ENV_PROXY is set.
  vi.stubGlobal('fetch', () => Promise.reject(new Error('sent to a proxy')))
  folder = folderOfTest()
})

interface Received {
  readonly url: string
  readonly authorization: string | undefined
  readonly type: string | undefined
  readonly body: string
}

const imported = (overrides: Partial<ImportResult> = {}): ImportResult => ({
  format: 'verifiers trace',
  trajectories: ['a/1', 'a/2'],
  existing: 0,
  first: { id: 'a/1', createdAt: '2026-01-01T00:00:00.000Z' },
  failed: { count: 0, first: [] },
  lacked: [],
  ...overrides,
})

/** Starts an application that gives every file the same answer. */
async function application(answer: unknown = imported(), status = 201) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString('latin1')
    const { authorization, 'content-type': type } = request.headers
    received.push({ url: request.url ?? '', authorization, type, body })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const running = { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: TOKEN }
  return { received, running }
}

/** `runs` is the application that runs already; `starts` is the one that the command can start. */
async function open(
  files: readonly string[],
  { runs, starts, input = [] }: { runs?: RunningApplication; starts?: RunningApplication; input?: Uint8Array[] } = {},
) {
  let output = ''
  let complaint = ''
  let running = runs
  const status = await command(['open', ...files], {
    folder,
    places: { builtIn: {}, folders: [], hub: { url: undefined, token: undefined, cacheFolder: undefined } },
    builtIn: 'tiny',
    input: Readable.from(input),
    print: (text) => {
      output += text
    },
    complain: (text) => {
      complaint += text
    },
    version: '0',
    async start() {
      running = starts
    },
    stop: () => {},
    running: () => (running ? [running] : []),
  })
  return { status, output, complaint, started: running !== runs }
}

const write = (file: string, content: string | Uint8Array) => {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  writeFileSync(path.join(folder, file), content)
}

test('rollscope open sends the bytes of each file to the running application, and prints the address of its first trajectory', async () => {
  write('two words.jsonl', '{"a": 1}')
  write('runs/deep/b.parquet', new Uint8Array([0x50, 0xff, 0]))
  write('runs/notes.txt', 'no rollouts')
  const { received, running } = await application()
  const { status, output, complaint, started } = await open(['two words.jsonl', 'runs'], { runs: running })
  expect([status, complaint, started]).toEqual([0, '', false])
  expect(received).toEqual([
    { url: '/api/import?name=two+words.jsonl', ...SENT, body: '{"a": 1}' },
    { url: '/api/import?name=runs%2Fdeep%2Fb.parquet', ...SENT, body: 'P\u00ff\0' },
  ])
  expect(output).toBe(
    [
      'two words.jsonl: 2 trajectories (verifiers trace)',
      `  ${running.address}/t/a%2F1?token=${TOKEN}`,
      'runs/deep/b.parquet: 2 trajectories (verifiers trace)',
      `  ${running.address}/t/a%2F1?token=${TOKEN}`,
      '',
    ].join('\n'),
  )
})

test('rollscope open opens each file of a folder once, under its own name, although links lead to it and around it', async () => {
  write('runs/run-2/a.jsonl', '{}')
  write('runs/run-2/b.tar.gz', new Uint8Array([0x1f]))
  write('elsewhere/c.traj', '{}')
  symlinkSync('run-2', path.join(folder, 'runs/latest-run'))
  symlinkSync('..', path.join(folder, 'runs/run-2/around'))
  symlinkSync('../elsewhere', path.join(folder, 'runs/linked'))
  symlinkSync('nowhere', path.join(folder, 'runs/broken.jsonl'))
  execFileSync('mkfifo', [path.join(folder, 'runs/pipe.jsonl')])
  const { running } = await application()
  const { output, complaint } = await open(['runs'], { runs: running })
  expect(complaint).toBe('')
  expect(output.split('\n').flatMap((line) => /^(\S+): /.exec(line)?.[1] ?? [])).toEqual([
    'runs/linked/c.traj',
    'runs/run-2/a.jsonl',
    'runs/run-2/b.tar.gz',
  ])
})

test('rollscope open sends the events of one folder as one file with the name of the folder', async () => {
  const event = (id: number) => JSON.stringify({ id, source: 'user', action: 'message' })
  for (const id of [10, 9]) write(`runs/one/events/${id}.json`, event(id))
  write('runs/one/state.json', '{}')
  const { received, running } = await application()
  const { output } = await open(['runs/one'], { runs: running })
  expect(received).toEqual([
    { url: '/api/import?name=one%2Fevents', ...SENT, body: `${event(9)}\n${event(10)}\n` },
    { url: '/api/import?name=one%2Fstate.json', ...SENT, body: '{}' },
  ])
  expect(output).toContain('runs/one/events: 2 trajectories')
})

// The superuser can list every folder.
test.skipIf(process.getuid?.() === 0)('rollscope open says which folder cannot be listed', async () => {
  write('runs/closed/a.jsonl', '{}')
  chmodSync(path.join(folder, 'runs/closed'), 0)
  const { running } = await application()
  const { status, complaint } = await open(['runs'], { runs: running })
  chmodSync(path.join(folder, 'runs/closed'), 0o700)
  expect([status, complaint]).toEqual([3, expect.stringMatching(/^runs\/closed: /)])
})

test('rollscope open says which files of a folder it does not open because they are pickles of PyTorch', async () => {
  write('runs/a.jsonl', '{}')
  write('runs/b/2.pt', new Uint8Array([0x80]))
  write('runs/b/1.pt', new Uint8Array([0x80]))
  const { received, running } = await application()
  const { status, complaint } = await open(['runs'], { runs: running })
  expect([status, received.length]).toEqual([0, 1])
  expect(complaint).toBe(
    '2 PyTorch files not opened, the first is runs/b/1.pt. Convert it with Rollscope’s script: python public/convert_pt.py runs/b/1.pt\n',
  )
})

test('rollscope open starts an application if none runs, and stores standard input there', async () => {
  const { received, running } = await application(imported({ trajectories: ['a'], existing: 1 }))
  const { status, output, started } = await open(['-'], {
    starts: running,
    input: [new Uint8Array([0x28, 0xb5, 0x2f])],
  })
  expect([status, started]).toEqual([0, true])
  expect(received).toEqual([{ url: '/api/import', ...SENT, body: '(\u00b5/' }])
  expect(output).toMatch(/^-: 1 trajectory \(verifiers trace\), 1 of them in the library before\n/)
})

test('rollscope open sends the content of a pipe, such as <(zcat a.gz) of a shell, without a name', async () => {
  const { received, running } = await application()
  execFileSync('mkfifo', [path.join(folder, 'pipe')])
  const [{ status, complaint }] = await Promise.all([
    open(['pipe'], { runs: running }),
    writeFile(path.join(folder, 'pipe'), '{"a": 1}'),
  ])
  expect([status, complaint]).toEqual([0, ''])
  expect(received).toEqual([{ url: '/api/import', ...SENT, body: '{"a": 1}' }])
})

test('rollscope open reports records that could not be read, and its status is 3', async () => {
  write('a.jsonl', '{}')
  const record = { line: 7, path: '', expected: '', found: '', message: 'the line is not JSON', hint: '' }
  const { running } = await application(imported({ failed: { count: 1, first: [record] } }))
  const { status, output } = await open(['a.jsonl'], { runs: running })
  expect(status).toBe(3)
  expect(output).toContain('  1 record could not be read:\n    line 7: the line is not JSON\n')
})

test('rollscope open reports a file that the application refuses with its reason, and opens the others', async () => {
  write('a.jsonl', '{}')
  const refusing = await application({ detail: 'the file contains no rollout', hint: 'Choose another file.' }, 422)
  const { status, output, complaint } = await open(['a.jsonl', 'missing.jsonl'], { runs: refusing.running })
  expect([status, output]).toEqual([3, ''])
  expect(complaint).toBe(
    'missing.jsonl: There is no such file, and a folder of that name contains no rollouts.\n' +
      'a.jsonl: the file contains no rollout\n  Choose another file.\n',
  )
})

test('rollscope open names the reason if the application ends meanwhile', async () => {
  write('a.jsonl', '{}')
  const { status, complaint } = await open(['a.jsonl'], { runs: { address: 'http://127.0.0.1:9', token: TOKEN } })
  expect(status).toBe(3)
  expect(complaint).toMatch(/^a\.jsonl: fetch failed: .+\n$/)
})

test('rollscope open starts nothing if no file can be read', async () => {
  const { running } = await application()
  const { status, started, complaint } = await open(['missing.jsonl'], { starts: running })
  expect([status, started]).toEqual([3, false])
  expect(complaint).toMatch(/^missing\.jsonl: There is no such file/)
})

test('rollscope open explains itself, and refuses options that it does not have', async () => {
  expect(await open(['--help'])).toMatchObject({ status: 0, output: expect.stringMatching(/^rollscope open FILE…/) })
  expect(await open([])).toMatchObject({ status: 2, complaint: expect.stringMatching(/^open requires a FILE/) })
  expect(await open(['--stdin'])).toMatchObject({
    status: 2,
    complaint: 'rollscope open has no option --stdin: run rollscope open --help\n',
  })
})
