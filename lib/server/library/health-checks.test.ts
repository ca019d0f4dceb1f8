/** Tests the real thread that checks stored trajectories, with a real store. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { PACKED_TYPE, readPackedAnswer } from '#lib/trajectory/tokens/packed-bytes.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { trajectoryForViewer } from '../exports/trajectory-for-viewer.ts'
import type { Services } from '../services.ts'
import { createHealthChecks, type HealthChecks } from './health-checks.ts'
import { trajectoryHealth } from './library.ts'

let folder: string
let store: TrajectoryStore
let health: HealthChecks
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-checks-'))
  store = openTrajectoryStore(folder, { now: () => new Date() })
  health = createHealthChecks({
    store,
    workerFile: path.resolve('lib/server/library/health-worker.ts'),
    start: {
      dataFolder: folder,
      tokenizers: {
        builtIn: { 'built-in': path.resolve('models/tiny-qwen3') },
        folders: [],
        hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder, cachedOnly: true },
      },
    },
  })
})
afterAll(async () => {
  await health.close()
  store.close()
  rmSync(folder, { recursive: true })
})

const drifting = (): Trajectory => exampleTrajectory('retokenization-drift')

test('The health thread checks every stored trajectory, even a damaged one, with drift if the tokenizer is on this machine', async () => {
  const known = store.add(drifting())
  const elsewhere = store.add({ ...sample, model: { tools: [], tokenizer: { name: 'some/where', specialIds: [] } } })
  const damaged = store.add({ ...sample, id: 'damaged' })
  const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
  database.prepare('UPDATE headers SET header = ? WHERE key = ?').run('{', damaged)
  database.close()
  health.checkStored()
  health.checkStored()
  await expect.poll(() => store.uncheckedKey()).toBeUndefined()
  expect(store.health(known)?.findings).toMatchObject([{ kind: 'drift', count: 3 }])
  expect(store.health(elsewhere)?.checks.at(-1)).toEqual({
    name: 'drift',
    unknown: 'the tokenizer some/where is not on this machine',
  })
  expect(store.health(damaged)?.findings).toMatchObject([{ kind: 'unreadable', label: 'damaged' }])
})

test('A viewer that accepts packed bytes gets them, from the copy of the health thread as soon as there is one', async () => {
  const [first] = sample.segments
  const ids = Array<number>(10_000).fill(first?.ids[0] ?? 0)
  const all = { store, health, runs: { lookedAt: () => {} } } as unknown as Services
  const viewed = (key: string, accept: string) =>
    trajectoryForViewer(new Request('http://h/x', { headers: { accept } }), key, all)
  const expectAnswer = async (key: string) => {
    const answer = await viewed(key, `${PACKED_TYPE}, */*`)
    expect(answer.headers.get('content-type')).toBe(PACKED_TYPE)
    const packed = readPackedAnswer(await answer.arrayBuffer())
    expect(packed && unpack(packed.trajectory)).toEqual(store.get(key))
    expect(await (await viewed(key, '*/*')).json()).toEqual(store.get(key))
  }
  const long = store.add({
    ...sample,
    id: 'long',
    title: 'A long one',
    tags: ['kept'],
    segments: [{ kind: 'prompt', ids, messages: [] }],
  })
  await expectAnswer(long)
  await expect.poll(() => store.packed(long)).toBeDefined()
  await expectAnswer(long)
  const short = store.add({ ...sample, id: 'short', note: 'Labels are sent beside the bytes.' })
  await expectAnswer(short)
  expect(store.packed(short)).toBeUndefined()
})

test('The health thread checks a requested trajectory at once and stores the result', async () => {
  const key = store.add(drifting())
  const all = { store, health } as unknown as Services
  const first = await trajectoryHealth(key, all)
  expect(first.checks).toHaveLength(11)
  expect(store.health(key)).toEqual(first)
  expect(await trajectoryHealth(key, all)).toEqual(first)
  await expect(trajectoryHealth('none', all)).rejects.toMatchObject({ details: { code: 'NO_TRAJECTORY' } })
  store.remove(key)
  await expect(trajectoryHealth(key, all)).rejects.toMatchObject({ details: { code: 'DELETED' } })
})

test('A round of checks asks for each trajectory once, and a request during it begins another round', async () => {
  const unchecked = ['c', 'b', 'a']
  const looks: (string | undefined)[] = []
  const rounds = createHealthChecks({
    store: {
      uncheckedKey(after) {
        looks.push(after)
        if (looks.length === 2) rounds.checkStored()
        return unchecked[after === undefined ? 0 : unchecked.indexOf(after) + 1]
      },
      putHealth() {},
      putUnchecked() {},
      health: () => undefined,
      whenUnlocked: async () => {},
    },
    workerFile: path.resolve('lib/server/library/health-worker.ts'),
    start: {
      dataFolder: folder,
      tokenizers: { builtIn: {}, folders: [], hub: { url: undefined, token: undefined, cacheFolder: folder } },
    },
  })
  onTestFinished(() => rounds.close())
  rounds.checkStored()
  const round = [undefined, 'c', 'b', 'a']
  await expect.poll(() => looks).toEqual([...round, ...round])
})

test('A trajectory that ends the thread of the checks is named, stored as unchecked, and ends no other check', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const workerFile = path.join(folder, 'ending-worker.mjs')
  writeFileSync(
    workerFile,
    `import { answerRequests } from ${JSON.stringify(path.resolve('lib/server/limited-thread.ts'))}
    answerRequests(() => (key) => key === 'deadly' ? process.exit() : { of: {}, index: undefined, health: key })`,
  )
  const unchecked = ['c', 'deadly', 'a']
  const stored: unknown[] = []
  const checks = createHealthChecks({
    store: {
      uncheckedKey: (after) => unchecked[after === undefined ? 0 : unchecked.indexOf(after) + 1],
      putHealth: (key) => void stored.push(key),
      putUnchecked: (key, { findings }) => void stored.push([key, findings[0]?.message]),
      health: () => undefined,
      whenUnlocked: async () => {},
    },
    workerFile,
    start: {
      dataFolder: folder,
      tokenizers: { builtIn: {}, folders: [], hub: { url: undefined, token: undefined, cacheFolder: folder } },
    },
  })
  onTestFinished(() => checks.close())
  checks.checkStored()
  await expect.poll(() => stored).toEqual(['c', ['deadly', expect.stringMatching(/^It could not be checked: /)], 'a'])
  expect(log.mock.calls.flat().join(' ')).toContain('deadly')
  log.mockRestore()
})
