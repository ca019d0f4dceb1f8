/**
 * Sends large files to /api/import of the built application. Figures are the duration, the latency of /api/health meanwhile
 * compared with that without an import, and the memory of the process compared with the file's bytes (Linux only). `[1,1,…]`
 * of 126 MiB is refused, a list of 1,000 rollouts of about 96 MB is stored, and so is a rollout with as many tokens as the
 * limits allow, with many segments and with a single one. Each file goes to a fresh application, because memory that an
 * import has freed would hide what the next one needs. Python's `json` parses the same file.
 */
import { mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '#lib/util/limits.ts'
import { type Application, CHANGING, startApplication, stopApplication } from '../../e2e/support/application.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { reportFigure } from '../support/figures.ts'
import { ones, rollouts } from '../support/import-files.ts'
import { jsonFileReader, reportPython } from '../support/python-readers.ts'

const MEGABYTE = 1e6
const HEALTH_EVERY_MS = 20
/** The smallest idle latency to compare with, in ms: less is noise of the clock and the scheduler. */
const LEAST_IDLE_MS = 1
const LIMIT_LATENCY = 10
const LIMIT_MEMORY = 4

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-import-'))
if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
const tokens = LIMITS.tokens
try {
  await measure('[1,1,…]', ones, 422)
  await measure('a list of 1,000 rollouts', (file) => rollouts(file, 1000), 201)
  await measure('a rollout of 2,000,000 tokens', (file) => rollouts(file, 1, { tokens }), 201)
  await measure('the same in one segment', (file) => rollouts(file, 1, { tokens, isOneSegment: true }), 201)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Sends a file to a fresh application, which must answer with `status`. */
async function measure(what: string, write: (file: string) => number, status: number): Promise<void> {
  const file = path.join(folder, 'file.json')
  const bytes = write(file)
  const data = path.join(folder, 'data')
  const application = await startApplication(data)
  const pid = application.child.pid as number
  try {
    // This import loads the worker and the route before the measurement.
    const small = path.join(folder, 'small.json')
    rollouts(small, 1)
    await importFile(application, small)
    await wait(2_000)
    const idle = await latencies(application, wait(5_000))
    const idleP99 = Math.max(LEAST_IDLE_MS, at(idle, 0.99))
    const before = memory(pid, 'VmRSS')
    resetPeak(pid)
    const started = performance.now()
    const sending = importFile(application, file)
    const during = await latencies(application, sending)
    const answered = await sending
    const ms = performance.now() - started
    const peak = memory(pid, 'VmHWM') ?? 0
    if (answered !== status) throw new Error(`${what}: answered with ${answered}, not ${status}`)
    reportFigure(`${what}, ${(bytes / MEGABYTE).toFixed(0)} MB`, ms, 'ms')
    reportFigure(`${what}: MB/s`, bytes / 1e3 / ms, '')
    // The refused file is not whole.
    if (status === 201) {
      const pythonSeconds = reportPython(what, file, bytes, jsonFileReader)
      reportFigure(`${what}: time over that of Python’s json`, ms / 1000 / pythonSeconds, '×')
    }
    reportFigure(`${what}: health before, 99th percentile`, at(idle, 0.99), 'ms')
    reportFigure(`${what}: health meanwhile, 99th percentile, × idle`, at(during, 0.99) / idleP99, '×', LIMIT_LATENCY)
    reportFigure(`${what}: health meanwhile, longest`, at(during, 1), 'ms')
    if (before !== undefined) {
      reportFigure(`${what}: most memory beside idle`, (peak - before) / MEGABYTE, 'MB')
      reportFigure(`${what}: most memory beside idle, × file`, (peak - before) / bytes, '×', LIMIT_MEMORY)
    }
  } finally {
    await stopApplication(application, 'SIGTERM')
    rmSync(data, { recursive: true, force: true })
    rmSync(file)
  }
}

/** Sends a file and returns the status of the answer. */
async function importFile({ base }: Application, file: string): Promise<number> {
  const { status, ...response } = await fetch(`${base}/api/import?name=bench.json`, {
    method: 'POST',
    headers: { ...CHANGING, 'content-type': 'application/octet-stream' },
    body: await openAsBlob(file),
  }).then(async (reply) => ({ status: reply.status, text: await reply.text() }))
  if (status === 422) console.log(response.text)
  return status
}

/** Returns the durations of requests for /api/health until `done` settles, in ms, sorted. */
async function latencies({ base }: Application, done: Promise<unknown>): Promise<readonly number[]> {
  const all: number[] = []
  let isDone = false
  const end = () => {
    isDone = true
  }
  done.then(end, end)
  while (!isDone) {
    const started = performance.now()
    await fetch(`${base}/api/health`).then((reply) => reply.text())
    all.push(performance.now() - started)
    await wait(HEALTH_EVERY_MS)
  }
  return all.sort((a, b) => a - b)
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** Returns memory of the process in bytes, or undefined if the system does not report it. */
function memory(pid: number, name: 'VmRSS' | 'VmHWM'): number | undefined {
  if (process.platform !== 'linux') return undefined
  const [, kibibytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** Resets the peak of the process's memory. */
function resetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
