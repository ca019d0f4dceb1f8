import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { DataFolderError, defaultDataFolder, openDataFolder } from './files/data-folder.ts'
import { openServerStore } from './files/servers.ts'
import { StoreError } from './store-error.ts'
import { openTrajectoryStore } from './trajectories.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)
const open = () => openTrajectoryStore(folder, { now: () => new Date() })

const newest = { filter: {}, sort: { by: 'added', order: 'desc' }, limit: 2 } as const
const stop = { kind: 'stop' } as const
const turns = ['one', 'two', 'three'].map((content) => ({
  messages: [{ role: 'user', content } as const],
  reply: [65, 66],
  finish: stop,
}))
const trajectory = (id = 't', count = 2): Trajectory => ({
  ...simulateRollout(chatml, turns.slice(0, count)).trajectory,
  id,
})

describe('stored trajectories', () => {
  test('are unchanged, also for another process', () => {
    const store = open()
    const key = store.add(trajectory())
    expect(store.get(key)).toEqual(trajectory())
    store.close()
    const again = open()
    expect(again.get('t')).toEqual(trajectory())
    again.close()
  })

  test('grow segment by segment', () => {
    const store = open()
    const whole = trajectory('t', 3)
    const key = store.add({ ...whole, segments: [], outcome: { kind: 'running' } }, { runsHere: true })
    for (let n = 1; n <= whole.segments.length; n++) {
      store.update(key, { ...whole, segments: whole.segments.slice(0, n), outcome: { kind: 'running' } }, n - 1)
      expect(store.get(key)?.segments).toEqual(whole.segments.slice(0, n))
    }
    store.update(key, whole, whole.segments.length)
    expect(store.get(key)).toEqual(whole)
    store.close()
  })

  test('are long if other requests should not wait until one is read', () => {
    const store = open()
    const whole = trajectory()
    const ids = Array.from({ length: 50_001 }, (_, index) => index)
    store.add({ ...whole, id: 'short', note: 'x'.repeat(2 << 20) })
    store.add({ ...whole, id: 'tokens', segments: [{ kind: 'prompt', ids, messages: [] }] })
    store.add({ ...whole, id: 'header', foreign: { other: { text: 'x'.repeat(2 << 20) } } })
    expect(['short', 'tokens', 'header', 'none'].filter((key) => store.isLong(key))).toEqual(['tokens', 'header'])
    store.remove('header')
    expect(store.isLong('header')).toBe(false)
    store.close()
  })

  test('are not duplicated if equal; a different one with the same id gets its own key', () => {
    const store = open()
    expect([
      store.add(trajectory()),
      store.add(trajectory()),
      store.add(trajectory('t', 1)),
      store.add(trajectory('t', 1)),
    ]).toEqual(['t', 't', 't~2', 't~2'])
    expect(store.get('t~2')).toEqual(trajectory('t', 1))
    store.close()
  })

  test('that were killed before a server read their question keep it', () => {
    const unsent = [{ role: 'user', content: 'What is 25 * 17?' }] as const
    const unsentGiven = { what: 'ids', ids: [1, 2] } as const
    const store = open()
    store.add({ ...trajectory('asked'), segments: [], outcome: { kind: 'running', unsent } }, { runsHere: true })
    store.add({ ...trajectory('given'), segments: [], outcome: { kind: 'running', unsentGiven } }, { runsHere: true })
    expect(store.list(newest).rows.map(({ question }) => question)).toContain('What is 25 * 17?')
    store.close()
    const again = open()
    expect(again.get('asked')?.outcome).toEqual({ kind: 'ended', reason: 'interrupted', unsent })
    expect(again.get('given')?.outcome).toEqual({ kind: 'ended', reason: 'interrupted', unsentGiven })
    again.close()
  })

  test('that cannot be read do not prevent others from opening', () => {
    const store = open()
    for (const id of ['bad', 'good']) store.add({ ...trajectory(id), outcome: { kind: 'running' } }, { runsHere: true })
    store.close()
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec(`UPDATE segments SET segment = '{}' WHERE key = 'bad'`)
    database.close()
    for (let n = 0; n < 2; n++) {
      const again = open()
      expect(again.get('good')?.outcome).toEqual({ kind: 'ended', reason: 'interrupted' })
      expect(() => again.get('bad')).toThrow(StoreError)
      expect(again.list(newest).rows.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted'])
      again.close()
    }
  })

  test('from a file that was exported during a run are not our runs', () => {
    const running = { ...trajectory(), outcome: { kind: 'running', rolloutId: 'r' } } as const
    const store = open()
    store.add(running)
    store.close()
    const later = open()
    expect(later.get('t')).toEqual(running)
    later.close()
  })

  test.each([
    ['..', 'id..'],
    ['.', 'id.'],
    ['lonely\ud800', 'lonely\ufffd'],
    ['a/b?c#d', 'a/b?c#d'],
  ])('with the id %j have the key %j, which is valid in an address', (id, key) => {
    const store = open()
    expect(store.add(trajectory(id))).toBe(key)
    expect(store.get(key)?.id).toBe(id)
    expect(() => encodeURIComponent(key)).not.toThrow()
    store.close()
  })

  test('accept keys that look like SQL or paths', () => {
    const store = open()
    for (const key of ["' OR 1=1 --", '../../etc/passwd', '%', '*', '\0', 'x'.repeat(10_000)])
      expect(store.get(key)).toBeUndefined()
    store.close()
  })

  test('report damage', () => {
    const store = open()
    store.add(trajectory())
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec(`UPDATE segments SET segment = json_set(segment, '$.ids', json('["x"]')) WHERE position = 0`)
    database.close()
    expect(() => store.get('t')).toThrow(
      'the stored trajectory t is damaged: segments[0].ids[0]: expected a number, found "x"',
    )
    store.close()
  })

  test('that are damaged can be restored from an export, next to the damaged one or in its place once it is deleted', () => {
    const store = open()
    store.add(trajectory())
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec(`UPDATE segments SET segment = '{' WHERE key = 't'`)
    expect(store.addAll([trajectory('u'), trajectory()])).toEqual(['u', 't~2'])
    expect(store.add(trajectory())).toBe('t~2')
    expect(() => store.get('t')).toThrow(StoreError)
    store.remove('t')
    expect(store.add(trajectory())).toBe('t')
    expect(store.get('t')).toEqual(trajectory())
    database.exec(`UPDATE headers SET header = '{' WHERE key = 't~2'; DELETE FROM headers WHERE key = 'u'`)
    database.close()
    expect([store.add(trajectory('u')), store.add(trajectory('t', 1))]).toEqual(['u~2', 't~3'])
    store.close()
  })

  test('are in files that only the user can read', () => {
    const store = open()
    store.add(trajectory())
    for (const file of ['rollscope.db', 'rollscope.db-wal']) expect(mode(path.join(folder, file))).toBe('600')
    store.close()
  })
})

describe('saved servers', () => {
  test('are in a file that only the user can read', () => {
    const store = openServerStore(folder)
    expect(store.list()).toEqual([])
    const servers = [
      { name: 'a', baseUrl: 'http://127.0.0.1:30000', apiKey: 'sk' },
      { name: 'b', baseUrl: 'http://h' },
    ]
    store.save(servers)
    expect(openServerStore(folder).list()).toEqual(servers)
    expect(mode(path.join(folder, 'servers.json'))).toBe('600')
  })
})

describe('the data folder', () => {
  test('is created with private permissions', () => {
    const made = openDataFolder(path.join(folder, 'a', 'b'))
    expect(mode(made)).toBe('700')
  })

  test('that was open to others is made private', () => {
    const lax = path.join(folder, 'lax')
    mkdirSync(lax)
    chmodSync(lax, 0o755)
    expect(mode(openDataFolder(lax))).toBe('700')
  })

  test.each(['rollscope.db', 'servers.json', 'instances'])('may not contain a link named %s', (name) => {
    const data = path.join(folder, 'data')
    openDataFolder(data)
    const target = path.join(folder, 'elsewhere')
    writeFileSync(target, 'untouched', { mode: 0o644 })
    symlinkSync(target, path.join(data, name))
    expect(() => openDataFolder(data)).toThrow(`${path.join(data, name)} is a symbolic link: put the file`)
    expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['untouched', 0o644])
  })

  test('is opened for a user without a name, as in a container', () => {
    const nameless = vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    })
    expect(mode(openDataFolder(path.join(folder, 'nameless')))).toBe('700')
    nameless.mockRestore()
  })

  test('may not be a link', () => {
    const link = path.join(folder, 'link')
    symlinkSync(os.tmpdir(), link)
    expect(() => openDataFolder(link)).toThrow(DataFolderError)
  })

  test('may not be a file or be inside of one', () => {
    const file = path.join(folder, 'file')
    writeFileSync(file, '')
    expect(() => openDataFolder(file)).toThrow(/is not a folder; set ROLLSCOPE_DATA/)
    expect(() => openDataFolder(path.join(file, 'inner'))).toThrow(/could not be created: .*; set ROLLSCOPE_DATA/)
  })

  test('may not be in a folder of the system that takes no folders, where a recursive creation never returns', () => {
    expect(() => openDataFolder('/proc/nowhere/inner')).toThrow(/could not be created: .*; set ROLLSCOPE_DATA/)
  })

  test.each([
    ['linux', {}, '/home/u/.local/share/rollscope'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/data/rollscope'],
    ['darwin', {}, '/home/u/Library/Application Support/rollscope'],
    ['win32', { LOCALAPPDATA: 'C:\\x' }, 'C:\\x\\rollscope'],
  ] as const)('on %s with %j is %s', (platform, environment, expected) => {
    expect(defaultDataFolder(platform, () => '/home/u', environment)).toBe(expected)
  })
})
