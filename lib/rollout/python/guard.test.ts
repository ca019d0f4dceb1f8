/** Tests that nothing escapes from the interpreter's process, with a real server, a real secret and a real marker file. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test, vi } from 'vitest'
import { guardHoles, setTrap } from './guard-check.ts'
import { guestParameters, startInterpreter } from './interpreter.ts'
import { probes, type Trap } from './probes.ts'
import { createPython } from './python.ts'
import { testOptions, testPlace } from './test-place.ts'

const start = async () => startInterpreter(await testPlace())

const ends: (() => void)[] = []
afterAll(() => {
  for (const end of ends) end()
})

test('no probe escapes from the guarded interpreter', async () => {
  expect(probes.length).toBeGreaterThan(40)
  expect(await guardHoles(start, probes)).toEqual([])
})

test('JavaScript with every module and every global does not escape either', async () => {
  const trap = await setTrap()
  ends.push(trap.close)
  const { tried, open } = await attack(trap)
  expect(tried.length).toBeGreaterThan(45)
  expect(open).toEqual([])
  expect(trap.caught('')).toBeUndefined()
})

test('a missing wall of the guard is noticed before Python starts', async () => {
  const place = await testPlace()
  const all = guestParameters(place)
  const said = (parameters: readonly string[]) => text(spawn(place.node, parameters, { cwd: place.emptyFolder }).stdout)
  const without = (flags: RegExp) => said(all.filter((one) => !flags.test(one)))
  const more = ['fs-read=*', 'fs-write=*', 'child-process', 'worker', 'addons', 'wasi']
  expect(
    await Promise.all([
      without(/^--(permission|allow)/),
      without(/^--disallow/),
      ...more.map((allowed) => said([`--allow-${allowed}`, ...all])),
    ]),
  ).toEqual([
    expect.stringContaining('without its permission model'),
    expect.stringContaining('code can be made from text'),
    ...more.map(() => expect.stringContaining('the permission model allows')),
  ])
})

// The tests below check that the probes and attacks would escape without the guard.

test('the same probes escape from an unguarded Pyodide', async () => {
  const tame: string[] = []
  for (const probe of probes.filter(({ bites }) => bites)) {
    const trap = await setTrap()
    const said = await guest.run(probe.code(trap))
    // As long as expect.poll waits, because Pyodide starts slowly on a busy machine.
    const caught = await vi
      .waitFor(() => caughtOrThrow(trap.caught(said)), { timeout: 90_000, interval: 10 })
      .catch(() => undefined)
    if (caught === undefined) tame.push(probe.name)
    trap.close()
  }
  expect(tame).toEqual([])
})

test('the same attacks succeed without the guard', async () => {
  const trap = await setTrap()
  ends.push(trap.close)
  const { tried, open } = await attack(trap, 'unguarded')
  // These fail without the guard too: the server speaks neither HTTP/2 nor TLS, there may be no network, and the secret is no
  // program.
  const others = [
    'http2.connect',
    'tls.connect',
    'https.get',
    'dns, promised',
    'WebSocket',
    'process.dlopen',
    'fork',
    'import of a file',
  ]
  expect(tried.filter((name) => !open.includes(name) && !others.includes(name))).toEqual([])
})

test('a hole in the guard turns the Python tool off, with its name', async () => {
  const interpreter = {
    run: async (code: string) => {
      const said = await guest.run(code)
      return { printed: { text: said } }
    },
    printed: () => ({ text: '' }),
    calls: () => 0,
    isOver: () => false,
    end() {},
  }
  const tried = probes.filter(({ name }) => ['os.system', 'run_js', 'open() of a host file'].includes(name))
  expect(await guardHoles(async () => interpreter, tried)).toEqual([
    'run_js: Python code read a file or a folder of the host',
    'os.system: Python code wrote a file or ran a command on the host',
  ])
})

test('a Node without the permission model turns the Python tool off, with a report', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-python-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const python = createPython({ ...testOptions, folder, node: '/bin/false' })
  expect(python.off()).toBeUndefined()
  expect(await python.check()).toBe('its process cannot be started: it ended with status 1')
  expect(python.off()).toBe('its process cannot be started: it ended with status 1')
})

test('a folder that cannot be written turns the Python tool off, with a report', async () => {
  const python = createPython({ ...testOptions, folder: path.join(import.meta.filename, 'data') })
  expect(await python.check()).toMatch(/^its process cannot be started: ENOTDIR/)
})

interface Attacked {
  readonly tried: readonly string[]
  /** Attacks that were not refused. */
  readonly open: readonly string[]
}

async function attack({ secretFile, markerFile, url, port }: Trap, how: 'guarded' | 'unguarded' = 'guarded') {
  const place = await testPlace('test-attacks.ts')
  const trap = JSON.stringify({ secretFile, markerFile, url, port })
  const parameters =
    how === 'guarded' ? guestParameters(place) : [place.guestFile, place.pyodideFolder, place.snapshotFile]
  const child = spawn(place.node, [...parameters, trap, how], { cwd: place.emptyFolder })
  // Processes that it started may outlast it and keep its output open.
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
  child.kill('SIGKILL')
  return JSON.parse(value ?? 'null') as Attacked
}

let shared: ReturnType<typeof startUnguarded> | undefined
const guest = {
  async run(code: string): Promise<string> {
    shared ??= startUnguarded()
    return (await shared).run(code)
  },
}

async function startUnguarded() {
  const { node, guestFile } = await testPlace('test-unguarded.ts')
  const child = spawn(node, [guestFile], { stdio: ['pipe', 'pipe', 'ignore'] })
  const end = () => void child.kill('SIGKILL')
  ends.push(end)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    async run(code: string): Promise<string> {
      child.stdin.write(`${JSON.stringify(code)}\n`)
      let said = ''
      for (;;) {
        const { value: line, done } = await lines.next()
        if (done) throw new Error('the unguarded process has ended')
        if (line.startsWith('"')) return said + (JSON.parse(line) as string)
        // Output that a probe prints by JavaScript.
        said += line
      }
    },
    end,
  }
}

function caughtOrThrow(caught: string | undefined): string {
  if (caught === undefined) throw new Error('nothing yet')
  return caught
}
