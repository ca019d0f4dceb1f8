/**
 * Measures the start of a built checkout: `node bench/server/start.ts`. Figures are the time from `npm start` until the first page is
 * answered, and the memory of the application after half a minute without requests.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { TOKEN } from '../../e2e/support/application.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { median, reportFigure } from '../support/figures.ts'

const STARTS = 3
const IDLE_MS = 30_000
/** Time between two requests to an application that does not answer yet, in milliseconds. */
const PAUSE_MS = 20

if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
const times: { readonly page: number; readonly call: number }[] = []
const memory: number[] = []
for (let start = 0; start < STARTS; start++) {
  const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-start-'))
  const port = await freePort()
  const began = performance.now()
  const child = spawn('npm', ['start'], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, PORT: String(port), ROLLSCOPE_DATA: data, ROLLSCOPE_TOKEN: TOKEN },
  })
  const closed = new Promise((resolve) => child.once('exit', resolve))
  try {
    const base = `http://127.0.0.1:${port}`
    await waitForAnswer(`${base}/`)
    const page = performance.now() - began
    await waitForAnswer(`${base}/api/trajectories`)
    times.push({ page, call: performance.now() - began })
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    memory.push(memoryOf(child.pid as number))
  } finally {
    process.kill(-(child.pid as number), 'SIGTERM')
    await closed
    await waitForGroup(child.pid as number)
    rmSync(data, { recursive: true, force: true })
  }
}
reportFigure('npm start → first page answered', median(times.map(({ page }) => page)), 'ms', 2000)
reportFigure('npm start → library answered', median(times.map(({ call }) => call)), 'ms')
reportFigure('idle memory of all its processes', median(memory), 'MB', 250)

/** Resolves when the address is answered. */
async function waitForAnswer(address: string): Promise<void> {
  for (;;) {
    const response = await fetch(address, { headers: { authorization: `Bearer ${TOKEN}` } }).catch(() => undefined)
    if (response?.ok) {
      await response.arrayBuffer()
      return
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** Resolves when all processes of a group have ended: npm ends before the application, which writes its compiled code at the end. */
async function waitForGroup(group: number): Promise<void> {
  for (;;) {
    try {
      process.kill(-group, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** Returns the memory of a process and of those that it started. */
function memoryOf(root: number): number {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name): [number, number] => [Number(name), parentOf(name)]),
  )
  const isInside = (pid: number): boolean =>
    pid === root || ((parents.get(pid) ?? 0) > 0 && isInside(parents.get(pid) as number))
  return [...parents.keys()].filter(isInside).reduce((sum, pid) => sum + shareMegabytes(pid), 0)
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    // The process has ended since.
    return 0
  }
}

/** Returns the proportional share of a process: pages that several processes map count once. */
function shareMegabytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024) / 1e6
}
