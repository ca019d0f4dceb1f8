/** Tests exports of long records as they run in the application. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { writableFormats } from '#lib/formats/registry.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { PACKED_TYPE } from '#lib/trajectory/tokens/packed-bytes.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Services } from '../services.ts'
import { exportPreview, exportSeveral } from './export.ts'
import { exportTrajectory } from './export-trajectory.ts'
import { createExporting } from './exporting.ts'
import { trajectoryForViewer } from './trajectory-for-viewer.ts'

let store: TrajectoryStore
let all: Services
const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-exporting-'))
beforeAll(() => {
  store = openTrajectoryStore(folder, { now: () => new Date() })
  store.add({ ...sample, id: 'short', reward: 1, group: { id: 'g', index: 0 } })
  const text = 'x'.repeat(1 << 20)
  store.add({ ...sample, id: 'long', reward: 0, group: { id: 'g', index: 1 }, foreign: { other: { text } } })
  all = servicesWith({})
})
afterAll(async () => {
  await all.exporting.close()
  store.close()
  rmSync(folder, { recursive: true })
})

/** Returns services whose store fails the test if it reads a long record itself. */
function servicesWith(limits: { readonly longestMs?: number; readonly heapMb?: number }): Services {
  const workerFile = path.resolve('lib/server/exports/export-worker.ts')
  const exporting = createExporting({ workerFile, start: { dataFolder: folder }, ...limits })
  const get = (key: string) => (key === 'long' ? expect.unreachable() : store.get(key))
  return { store: { ...store, get }, exporting } as unknown as Services
}

const single = (key: string, query: string, services = all) =>
  exportTrajectory(new Request(`http://h/x?${query}`), key, services)

/** Services that export every record in the server's thread. */
const withoutThread = () => ({ store: { ...store, isLong: () => false } }) as unknown as Services

const formats = writableFormats.map(({ name }) => name)

test.each(formats)('A long record is exported by the thread as the server exports a short one: %s', async (format) => {
  const query = `format=${format}&advantage=mean-std&forced=trained`
  const [file, expected] = [await single('long', query), await single('long', query, withoutThread())]
  expect(Object.fromEntries(file.headers)).toEqual(Object.fromEntries(expected.headers))
  expect(Buffer.from(await file.bytes()).equals(await expected.bytes())).toBe(true)
})

test.each(formats)('A file with long and short records has them in the requested order: %s', async (format) => {
  const request = { keys: ['long', 'short'], format, advantage: DEFAULT_FORMULA }
  const [file, expected] = [await exportSeveral(request, all), await exportSeveral(request, withoutThread())]
  expect(Object.fromEntries(file.headers)).toEqual(Object.fromEntries(expected.headers))
  expect(Buffer.from(await file.bytes()).equals(await expected.bytes())).toBe(true)
})

test('The preview of an export counts what long records lose', async () => {
  const { samples, formats } = await exportPreview({ keys: ['long', 'short'] }, all)
  expect(samples).toBe(2)
  expect(formats.find(({ name }) => name === 'slime')?.lost).toContainEqual({
    text: 'further fields of the other file',
    samples: 1,
  })
})

test('The server’s thread reads none of many short records, and says of a deleted one that it was deleted', async () => {
  const many = Array.from({ length: 60 }, (_, index) => store.add({ ...sample, id: `many-${index}`, segments: [] }))
  onTestFinished(() => {
    for (const key of many) store.remove(key)
  })
  const unread = { ...all, store: { ...all.store, get: expect.unreachable } } as unknown as Services
  expect(await exportPreview({ keys: many }, unread)).toEqual(await exportPreview({ keys: many }, withoutThread()))
  const request = { keys: many, format: 'rollscope' }
  const [file, expected] = [await exportSeveral(request, unread), await exportSeveral(request, withoutThread())]
  expect(await file.text()).toBe(await expected.text())
  store.remove(many[7] ?? '')
  await expect(exportPreview({ keys: many }, all)).rejects.toMatchObject({ details: { code: 'DELETED' } })
})

test.each([{ longestMs: 1 }, { heapMb: 8 }])(
  'An export that takes too much is refused with advice: %o',
  async (limits) => {
    const limited = servicesWith(limits)
    await expect(single('long', '', limited)).rejects.toMatchObject({ details: { status: 422, code: 'TOO_COMPLEX' } })
  },
)

test.each(['*/*', PACKED_TYPE])(
  'A viewer of a long record gets it from the thread as the server sends a short one: %s',
  async (accept) => {
    const request = new Request('http://h/x', { headers: { accept } })
    const view = (services: Services) =>
      trajectoryForViewer(request, 'long', { ...services, runs: { lookedAt: () => {} } } as unknown as Services)
    const [answer, expected] = [await view(all), await view(withoutThread())]
    expect(Object.fromEntries(answer.headers)).toEqual(Object.fromEntries(expected.headers))
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.equals(await expected.bytes())).toBe(true)
    if (accept === '*/*') expect(JSON.parse(String(bytes))).toEqual(store.get('long'))
  },
)

test('A record is exported while another export takes long, however many others follow', async () => {
  const workerFile = path.join(folder, 'worker.mjs')
  writeFileSync(
    workerFile,
    `import { answerRequests } from ${JSON.stringify(path.resolve('lib/server/limited-thread.ts'))}
    answerRequests(() => ({ key }) => key === 'endless' ? new Promise(() => {}) : { group: key })`,
  )
  const { ask, close } = createExporting({ workerFile, start: { dataFolder: folder } })
  const facts = (key: string, signal: AbortSignal) =>
    ask({ kind: 'facts', key, options: { wantsLosses: false } }, signal)
  const never = new AbortController().signal
  const leaving = new AbortController()
  const endless = facts('endless', leaving.signal)
  expect(await facts('a', never)).toEqual({ group: 'a' })
  expect(await facts('b', never)).toEqual({ group: 'b' })
  leaving.abort(new Error('left'))
  await expect(endless).rejects.toThrow('left')
  await close()
})

test('An export whose client leaves ends with its request', async () => {
  const leaving = new AbortController()
  const request = new Request('http://h/x', { signal: leaving.signal })
  const left = exportTrajectory(request, 'long', all)
  leaving.abort(new Error('the client left'))
  await expect(left).rejects.toThrow('the client left')
})

test('A long record that is damaged is reported like a short one', async () => {
  const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
  database.exec("UPDATE headers SET header = header || '}' WHERE key = 'long'")
  database.close()
  await expect(single('long', '')).rejects.toMatchObject({ code: 'DAMAGED' })
  await expect(exportSeveral({ keys: ['long'] }, all)).rejects.toMatchObject({ details: { code: 'DAMAGED' } })
})
