/** Tests two applications on one data folder, and one that was killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { openTrajectoryStore } from '../trajectories.ts'
import { openInstance, runningInstances } from './instance.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const open = () => openTrajectoryStore(folder, { now: () => new Date() })
const running: Trajectory = { ...sample, outcome: { kind: 'running' } }
const interrupted = { kind: 'ended', reason: 'interrupted' }
const files = () => readdirSync(path.join(folder, 'instances'))

test('a run of a second live instance is left alone, and is interrupted when that instance is gone', () => {
  const first = open()
  first.add(running, { runsHere: true })
  const second = open()
  expect(second.get('sample')?.outcome).toEqual({ kind: 'running' })
  expect([second.remove('sample'), second.runsElsewhere('sample')]).toEqual(['running', true])
  expect([first.runsElsewhere('sample'), first.runsElsewhere('absent')]).toEqual([false, false])
  first.close()
  // The second instance notices it without a restart.
  expect(second.get('sample')).toEqual({ ...sample, outcome: interrupted })
  expect([second.runsElsewhere('sample'), second.remove('sample')]).toEqual([false, 'removed'])
  second.close()
})

test('a group has the samples that a second live instance runs, which are interrupted when that instance is gone', () => {
  const first = open()
  first.add({ ...running, group: { id: 'g', index: 0 } }, { runsHere: true })
  const second = open()
  const outcomes = () => second.groupRows('g').map(({ outcome }) => outcome)
  expect(outcomes()).toEqual(['running'])
  first.close()
  expect(outcomes()).toEqual(['interrupted'])
  second.close()
})

test('the next start interrupts a run of a dead instance with its last segment', () => {
  const store = open()
  store.add(running, { runsHere: true })
  store.close()
  const later = open()
  expect(later.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 2 }).rows).toMatchObject([
    { outcome: 'interrupted' },
  ])
  expect(later.get('sample')).toEqual({ ...sample, outcome: interrupted })
  later.close()
})

test('a run is interrupted even if a living process has the process id of its owner', () => {
  const store = open()
  store.add(running, { runsHere: true })
  store.close()
  const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
  // Versions without instances stored it like this.
  database.exec(`UPDATE trajectories SET running_in = ${process.pid}`)
  database.close()
  const later = open()
  expect(later.get('sample')?.outcome).toEqual(interrupted)
  later.close()
})

test('an instance is alive for others until it closes, and leaves no file', () => {
  const [first, second] = [openInstance(folder), openInstance(folder)]
  expect([second.isAlive(first.id), first.isAlive(second.id), first.isAlive(first.id)]).toEqual([true, true, false])
  expect([second.isAlive(12), second.isAlive(first.id + 1)]).toEqual([false, false])
  first.close()
  second.removeDead()
  expect([second.isAlive(first.id), files()]).toEqual([false, [String(second.id)]])
  second.close()
  expect(files()).toEqual([])
})

test('a killed process is not a live instance, and the next one removes its file', async () => {
  const program = `
    const { openInstance } = await import(${JSON.stringify(path.join(import.meta.dirname, 'instance.ts'))})
    console.log(openInstance(process.argv[1]).id)
    setInterval(() => {}, 60_000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [text] = await once(child.stdout, 'data')
  const id = Number(text)
  const own = openInstance(folder)
  own.removeDead()
  expect([own.isAlive(id), files()]).toEqual([true, [id, own.id].map(String).sort()])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(own.isAlive(id)).toBe(false)
  own.removeDead()
  expect(files()).toEqual([String(own.id)])
  own.close()
})

test('the address of an instance is in a private file while it runs, and is not used after it was killed', () => {
  expect(runningInstances(folder)).toEqual([])
  const listening = { address: 'http://127.0.0.1:3000', token: 'secret' }
  const instance = openInstance(folder)
  expect(runningInstances(folder)).toEqual([])
  instance.announce(listening)
  expect(runningInstances(folder)).toEqual([listening])
  expect(statSync(`${instance.file}.json`).mode & 0o777).toBe(0o600)
  // A file without a lock is that of a killed instance, and one that is being written cannot be read.
  const killed = path.join(folder, 'instances', '4294967299')
  for (const file of [killed, `${killed}.json`]) writeFileSync(file, '')
  writeFileSync(`${killed}.json`, JSON.stringify({ ...listening, token: 'of the dead' }))
  expect(runningInstances(folder)).toEqual([listening])
  writeFileSync(`${instance.file}.json`, '{"address": "http')
  expect(runningInstances(folder)).toEqual([])
  expect(instance.removeDead()).toEqual([])
  expect(files().some((name) => name.startsWith('4294967299'))).toBe(false)
  instance.close()
  expect(files()).toEqual([])
})
