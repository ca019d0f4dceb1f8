/**
 * `node bench/server/kill.ts [KILLS] [SEED]` kills the application with SIGKILL at random moments while it runs rollouts and branches, and answers
 * calls of sessions, edits, imports and deletes, and starts it again. Every answered change must be there afterwards; the database must be
 * intact, unfinished runs marked as interrupted, and no Python process left. A change that was sent but not answered may be
 * there or not.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { streamJsonLines } from '#lib/browser/api.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { randomTrajectory, wrongUses } from '#testing/stored-forests.ts'
import { CHANGING, TOKEN } from '../../e2e/support/application.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { reportFigure } from '../support/figures.ts'
import { createConversations } from './kill/conversations.ts'
import { startUpstream } from './kill/upstream.ts'

const [kills = 100, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number)
console.log(`seed ${seed}`)
const WRITERS = 4
/** The largest number of answered changes before a kill. */
const MOST_ANSWERS = 40
/** One in this many rounds has a Python process that computes without end. */
const PYTHON_ROUNDS = 10

const random = randomNumbers(seed)
const below = (count: number): number => Math.floor(random() * count)

/**
 * What the answers of the application imply about a trajectory. A list has all possible values, since an answer may be
 * missing.
 */
interface Known {
  readonly key: string
  /** The imported file. Undefined for a run, whose record is only known by its events. */
  readonly imported: Trajectory | undefined
  readonly labels: (object | undefined)[]
  readonly isDeleted: boolean[]
  /** The events of a run, applied as on a page. */
  readonly fold: ReturnType<typeof createFold>
  outcome: Outcome | undefined
}

const known = new Map<string, Known>()
/** Keys of trajectories that a writer is changing. */
const busy = new Set<string>()
const touched = new Set<string>()
const losses: string[] = []
let answered = 0
let interrupted = 0
let branches = 0

const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-kill-'))
const port = await freePort()
const base = `http://127.0.0.1:${port}`
const upstream = await startUpstream()
const startMs: number[] = []
let orphans = 0
let damaged = 0
/** Number of losses that were printed. */
let printedLosses = 0

async function start(): Promise<ChildProcess> {
  const began = performance.now()
  const child = spawn(process.execPath, ['scripts/serve.ts'], {
    env: {
      ...process.env,
      PORT: String(port),
      ROLLSCOPE_DATA: data,
      ROLLSCOPE_TOKEN: TOKEN,
      SGLANG_BASE_URL: upstream.baseUrl,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  while (!(await isAnswering())) {
    if (child.exitCode !== null) throw new Error(`the application ended with ${child.exitCode}`)
    await delay(10)
  }
  startMs.push(performance.now() - began)
  return child
}

const isAnswering = (): Promise<boolean> =>
  fetch(`${base}/api/health`).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Returns the answer, or undefined if the application was killed before it answered. Throws Refused if the application
 * refuses.
 */
async function call(method: string, target: string, body?: object | string): Promise<unknown> {
  const isFile = typeof body === 'string'
  try {
    const answer = await fetch(base + target, {
      method,
      headers: { ...CHANGING, ...(isFile && { 'content-type': 'application/octet-stream' }) },
      ...(method !== 'GET' && { body: isFile ? body : JSON.stringify(body ?? {}) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Refused(`${method} ${target}: ${answer.status} ${text.slice(0, 300)}`)
    return text === '' ? {} : JSON.parse(text)
  } catch (error) {
    if (error instanceof Refused) throw error
    return undefined
  }
}

class Refused extends Error {}

const conversations = createConversations({ call, below })

/** Makes one change after another until the application is killed. */
async function write(killed: AbortSignal): Promise<void> {
  while (!killed.aborted) {
    const change = CHANGES[below(CHANGES.length)] as (killed: AbortSignal) => Promise<boolean>
    if (await change(killed)) answered++
  }
}

async function run(killed: AbortSignal): Promise<boolean> {
  const begun = await call('POST', '/api/rollouts', {
    prompt: `steps: ${below(4)}`,
    tools: ['calculator'],
    detached: true,
    topLogprobs: 0,
  })
  if (!begun) return false
  const { rolloutId, trajectoryId: key } = begun as { readonly rolloutId: string; readonly trajectoryId: string }
  answered++
  return follow(key, rolloutId, killed)
}

/** Branches from a random sampled token of a run that has ended, with a forced token half of the time. */
async function branch(killed: AbortSignal): Promise<boolean> {
  const ended = [...known.values()].filter(
    ({ key, imported, outcome, isDeleted, fold }) =>
      !imported &&
      outcome &&
      !busy.has(key) &&
      isDeleted.every((is) => !is) &&
      (fold.trajectory?.segments.length ?? 0) > 1,
  )
  const one = ended[below(ended.length)]
  const [prompt, response] = one?.fold.trajectory?.segments ?? []
  if (!one || !prompt || !response || response.ids.length === 0) return false
  const inside = below(response.ids.length)
  busy.add(one.key)
  const started = (await call('POST', `${address(one.key)}/branch`, {
    at: prompt.ids.length + inside,
    n: 1 + below(3),
    ...(random() < 0.5 && { force: { ids: [response.ids[inside]] } }),
  })) as { readonly keys: readonly string[]; readonly rollouts: readonly string[] } | undefined
  busy.delete(one.key)
  if (!started) return false
  answered++
  branches += started.keys.length
  const ends = await Promise.all(
    started.rollouts.map((rolloutId, index) => follow(started.keys[index] as string, rolloutId, killed)),
  )
  return ends.every((hasEnded) => hasEnded)
}

/** Applies the events of a run until it ends or the application is killed. Returns whether it has ended. */
async function follow(key: string, rolloutId: string, killed: AbortSignal): Promise<boolean> {
  const one = remember(key, undefined)
  busy.add(key)
  try {
    const answer = await fetch(`${base}/api/rollouts/${rolloutId}/events?from=0`, { headers: CHANGING, signal: killed })
    for await (const event of streamJsonLines(answer, 'the events')) hear(one, event as RolloutEvent)
    return one.outcome !== undefined
  } catch {
    return false
  } finally {
    busy.delete(key)
  }
}

function hear(one: Known, event: RolloutEvent): void {
  one.fold.add(event)
  if (event.type === 'ended') one.outcome = event.outcome
}

async function importFile(): Promise<boolean> {
  // Few seeds: imports have long segments in common, which the store keeps once.
  const trajectories = Array.from({ length: 1 + below(20) }, (_, index) =>
    index % 4 === 0
      ? randomTrajectory(crypto.randomUUID(), below(10))
      : { ...sampleTrajectory, id: crypto.randomUUID() },
  )
  const file = trajectories.map((trajectory) => encode(trajectory).replaceAll('\n', '')).join('\n')
  const answer = (await call('POST', '/api/import', file)) as { readonly trajectories: readonly string[] } | undefined
  if (!answer) return false
  if (answer.trajectories.length !== trajectories.length)
    losses.push(`an import of ${trajectories.length} was answered with ${answer.trajectories.length}`)
  for (const [index, key] of answer.trajectories.entries()) remember(key, trajectories[index])
  return true
}

function remember(key: string, imported: Trajectory | undefined): Known {
  const { title, tags, note, reward } = imported ?? {}
  const one: Known = {
    key,
    imported,
    labels: [imported && { title, tags, note, reward }],
    isDeleted: [false],
    fold: createFold(),
    outcome: undefined,
  }
  known.set(key, one)
  touched.add(key)
  return one
}

async function label(): Promise<boolean> {
  const labels = {
    title: `title ${random()}`,
    tags: [`tag ${below(5)}`],
    note: 'n'.repeat(1 + below(2000)),
    reward: random(),
  }
  return changeRecord(
    false,
    ({ key }) => call('PATCH', address(key), labels),
    (one) => one.labels,
    labels,
  )
}

const remove = (): Promise<boolean> =>
  changeRecord(
    false,
    ({ key }) => call('DELETE', address(key)),
    (one) => one.isDeleted,
    true,
  )

const restore = (): Promise<boolean> =>
  changeRecord(
    true,
    ({ key }) => call('POST', `${address(key)}/restore`),
    (one) => one.isDeleted,
    false,
  )

const address = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}`

/**
 * Changes a random trajectory that no other writer is changing, either a deleted one or another. Returns whether the change
 * was answered.
 */
async function changeRecord<T>(
  isDeleted: boolean,
  change: (one: Known) => Promise<unknown>,
  values: (one: Known) => T[],
  value: T,
): Promise<boolean> {
  const free = [...known.values()].filter((one) => !busy.has(one.key) && one.isDeleted.every((is) => is === isDeleted))
  const one = free[below(free.length)]
  if (!one) {
    await delay(5)
    return false
  }
  busy.add(one.key)
  touched.add(one.key)
  const possible = values(one)
  possible.push(value)
  const isAnswered = (await change(one)) !== undefined
  if (isAnswered) possible.splice(0, possible.length, value)
  busy.delete(one.key)
  return isAnswered
}

/** Compares stored trajectories with the known values. Differences are added to `lost`; open values are settled. */
async function check(keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const one = known.get(key) as Known
    const answer = await fetch(base + address(key), { headers: CHANGING })
    const text = await answer.text()
    if (!settle(one.isDeleted, answer.status === 404))
      losses.push(`${key}: deleted ${one.isDeleted}, but ${answer.status}`)
    if (answer.status === 404) continue
    if (!answer.ok) {
      losses.push(`${key}: ${answer.status} ${text.slice(0, 300)}`)
      continue
    }
    const stored = JSON.parse(text) as Trajectory
    const { title, tags, note, reward } = stored
    const isEmpty = [title, tags, note, reward].every((value) => value === undefined)
    if (
      !settle<object | undefined>(
        one.labels,
        isEmpty && one.labels[0] === undefined ? undefined : { title, tags, note, reward },
      )
    )
      losses.push(
        `${key}: labels ${JSON.stringify(one.labels)}, found ${JSON.stringify({ title, tags, note, reward })}`,
      )
    checkRecord(one, stored)
  }
}

function checkRecord(one: Known, stored: Trajectory): void {
  const { key, imported, fold, outcome } = one
  if (imported) {
    if (!isDeepStrictEqual(stored.segments, JSON.parse(JSON.stringify(imported.segments))))
      losses.push(`${key}: its segments are others`)
    return
  }
  const segments = fold.trajectory?.segments ?? []
  // A branch continues its last response, whose further tokens may be stored and not yet reported.
  const isGrowing = fold.trajectory?.forkedFrom !== undefined && outcome === undefined
  for (const [index, { ids }] of segments.entries()) {
    const found = stored.segments[index]?.ids
    if (!isDeepStrictEqual(isGrowing && index === segments.length - 1 ? found?.slice(0, ids.length) : found, ids))
      losses.push(`${key}: segment ${index} of ${segments.length} is not stored`)
  }
  if (stored.outcome.kind === 'running') losses.push(`${key}: it is still marked as running`)
  if (outcome && !isDeepStrictEqual(stored.outcome, outcome))
    losses.push(`${key}: it ended with ${JSON.stringify(outcome)}, stored is ${JSON.stringify(stored.outcome)}`)
  if (outcome) return
  if (stored.outcome.kind === 'ended' && stored.outcome.reason === 'interrupted') interrupted++
  one.outcome = stored.outcome
}

/** Returns whether the value is one of the possible ones, and makes it the only one. */
function settle<T>(possible: T[], value: T): boolean {
  const isPossible = possible.some((one) => isDeepStrictEqual(plain(one), plain(value)))
  possible.splice(0, possible.length, value)
  return isPossible
}

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

function isWhole(): boolean {
  const database = new DatabaseSync(path.join(data, 'rollscope.db'), { readOnly: true })
  const found = ['PRAGMA integrity_check', 'PRAGMA foreign_key_check'].map((check) => database.prepare(check).all())
  found.push(wrongUses(database))
  database.close()
  return isDeepStrictEqual(
    found,
    [[{ integrity_check: 'ok' }], [], []].map((rows) => rows.map((row) => Object.assign(Object.create(null), row))),
  )
}

/** Starts a run whose Python computes without end, and waits for its process. */
async function startPython(): Promise<void> {
  await call('POST', '/api/rollouts', { prompt: 'python', tools: ['python'], detached: true, topLogprobs: 0 })
  for (let tries = 0; tries < 6000 && pythonProcesses().length === 0; tries++) await delay(10)
}

/** Returns the process ids of interpreters: their arguments contain the path of their snapshot in the data folder. */
function pythonProcesses(): readonly string[] {
  return globSync('/proc/[0-9]*/cmdline').flatMap((file) => {
    try {
      return readFileSync(file, 'utf8').includes(data) ? [file.split('/')[2] as string] : []
    } catch {
      return []
    }
  })
}

async function areGone(pids: readonly string[]): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    const left = pythonProcesses()
    if (!pids.some((pid) => left.includes(pid))) return true
    await delay(10)
  }
  return false
}

/** Changes that a writer makes; each returns whether it was answered. Edits are more frequent than runs, which take longer. */
const CHANGES = [run, branch, conversations.next, importFile, label, label, label, remove, restore]

async function main(): Promise<void> {
  if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
  try {
    let application = await start()
    for (let round = 1; round <= kills; round++) {
      const hasPython = round % PYTHON_ROUNDS === 0
      const killing = new AbortController()
      const writers = Array.from({ length: WRITERS }, () => write(killing.signal))
      if (hasPython) await startPython()
      // The moment depends on answers instead of time, because a slow machine would be killed before it has done anything.
      const enough = answered + below(MOST_ANSWERS)
      while (answered < enough) await delay(1)
      await delay(below(300))
      const pythons = pythonProcesses()
      if (hasPython && pythons.length === 0) throw new Error('there is no Python process to be left')
      const exited = once(application, 'exit')
      application.kill('SIGKILL')
      killing.abort()
      await exited
      await Promise.all(writers)
      if (!(await areGone(pythons))) orphans++
      application = await start()
      if (!isWhole()) damaged++
      await check(round % 10 === 0 || round === kills ? [...known.keys()] : [...touched])
      losses.push(...(await conversations.losses()))
      for (const line of losses.slice(printedLosses)) console.error(`kill ${round}: ${line}`)
      printedLosses = losses.length
      touched.clear()
      if (round % 10 === 0)
        console.log(
          `${round} kills: ${answered} answered changes, ${losses.length} lost, ${interrupted} runs interrupted`,
        )
    }
    application.kill('SIGTERM')
    await once(application, 'exit')
  } finally {
    await upstream.close()
    rmSync(data, { recursive: true, force: true })
  }

  startMs.sort((a, b) => a - b)
  reportFigure('kills', kills, '')
  reportFigure('answered changes', answered, '')
  reportFigure('trajectories', known.size, '')
  reportFigure('branches', branches, '')
  reportFigure('sessions', conversations.count, '')
  reportFigure('answered changes that were lost', losses.length, '', 0)
  reportFigure('databases that were damaged', damaged, '', 0)
  reportFigure('runs that were interrupted', interrupted, '')
  reportFigure('Python processes that were left', orphans, '', 0)
  reportFigure('start until it answers, median', startMs[startMs.length >> 1] ?? Number.NaN, 'ms')
  reportFigure('start until it answers, longest', startMs.at(-1) ?? Number.NaN, 'ms')
  if (losses.length + damaged + orphans > 0) process.exitCode = 1
}

await main()
