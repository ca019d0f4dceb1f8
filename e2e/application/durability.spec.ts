/** Storage after a process ends during a run: everything up to the last closed segment is kept. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { AUTHORIZED, CHANGING, startApplication, stopApplication } from '../support/application.ts'
import { startSlowServer } from '../support/slow-server.ts'

const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8')) as Trajectory
/** The example up to the results of its first tool call. */
const unfinished: Trajectory = { ...example, segments: example.segments.slice(0, 3), outcome: { kind: 'running' } }

const call = async (url: string, data?: object) =>
  (
    await fetch(url, data ? { method: 'POST', headers: CHANGING, body: JSON.stringify(data) } : { headers: AUTHORIZED })
  ).json()

/** Stores a run segment by segment in another process, which is killed before the run ends. */
async function leaveRun(data: string, run: Trajectory): Promise<void> {
  const program = `
    const { openTrajectoryStore } = await import('#lib/store/trajectories.ts')
    const run = JSON.parse(process.argv[1])
    const options = { now: () => new Date() }
    const store = openTrajectoryStore(process.argv[2], options)
    const key = store.add({ ...run, segments: [] }, { runsHere: true })
    for (const index of run.segments.keys()) store.update(key, { ...run, segments: run.segments.slice(0, index + 1) }, index)
    console.log('stored')
    setInterval(() => {}, 60_000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, JSON.stringify(run), data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('a run that a killed process left is interrupted and continues; SIGTERM cancels a run and keeps its segments', async () => {
  const data = test.info().outputPath()
  await leaveRun(data, unfinished)
  // No token follows the first ones, so the run is in progress when it is cancelled.
  const slow = await startSlowServer(600_000)
  const application = await startApplication(data)
  const address = `${application.base}/api/trajectories/${unfinished.id}`
  const stored = async (): Promise<Trajectory> => call(address)

  expect(await stored()).toMatchObject({
    segments: unfinished.segments,
    outcome: { kind: 'ended', reason: 'interrupted' },
  })

  await call(`${application.base}/api/servers`, { name: 'slow', baseUrl: slow.baseUrl })
  const continued = await call(`${address}/continue`, {
    prompt: 'What is 2 + 2?',
    server: 'slow',
    sampling: { temperature: 0 },
    detached: true,
  })
  expect(continued).toHaveProperty('rolloutId')
  await expect.poll(async () => (await stored()).segments.length).toBeGreaterThan(3)
  const { segments } = await stored()
  expect(await stopApplication(application, 'SIGTERM')).toBe(0)
  await slow.close()

  const store = openTrajectoryStore(data, { now: () => new Date() })
  const left = store.get(unfinished.id)
  store.close()
  expect(left?.outcome).toEqual({ kind: 'ended', reason: 'cancelled' })
  expect(left?.segments.slice(0, segments.length)).toEqual(segments)
  expect(segments.slice(0, 3)).toEqual(unfinished.segments)
})

test('kill -9 during branches loses no token of their beginnings, and interrupts them', async () => {
  const data = test.info().outputPath()
  const store = openTrajectoryStore(data, { now: () => new Date() })
  store.add(example)
  store.close()
  const slow = await startSlowServer(600_000)
  const application = await startApplication(data)
  await call(`${application.base}/api/servers`, { name: 'slow', baseUrl: slow.baseUrl })
  const [prompt, response] = example.segments
  const at = (prompt?.ids.length ?? 0) + 3
  const forced = response?.ids[3] ?? 0
  const { keys } = (await call(`${application.base}/api/trajectories/${example.id}/branch`, {
    at,
    n: 2,
    server: 'slow',
    force: { ids: [forced] },
  })) as { readonly keys: readonly string[] }
  expect(keys).toHaveLength(2)
  await expect.poll(() => slow.generations.started).toBe(2)
  await stopApplication(application, 'SIGKILL')
  await slow.close()

  const reopened = openTrajectoryStore(data, { now: () => new Date() })
  for (const key of keys) {
    const branch = reopened.get(key)
    expect(branch?.segments.map(({ ids }) => ids)).toEqual([prompt?.ids, response?.ids.slice(0, 4)])
    expect(branch?.segments[1]).toMatchObject({ mask: [1, 1, 1, 0], forced: [{ start: 3, end: 4, as: 'ids' }] })
    expect(branch?.outcome).toEqual({ kind: 'ended', reason: 'interrupted' })
  }
  expect(reopened.get(example.id)).toEqual(example)
  reopened.close()
})
