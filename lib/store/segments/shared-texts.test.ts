/** Tests that texts of shared prefixes are stored once, and that nothing else can be noticed of it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { runs } from '#testing/property-runs.ts'
import { randomBranch, randomSegments, randomTrajectory, wrongUses } from '#testing/stored-forests.ts'
import { openImportStore } from '../import-store.ts'
import { openTrajectoryReader } from '../record.ts'
import { openTrajectoryStore, type TrajectoryStore } from '../trajectories.ts'
import { PART } from './segments.ts'
import { SHORTEST_SHARED } from './shared-texts.ts'

const DAY_MS = 24 * 60 * 60_000
let folder: string
let now: number
let store: TrajectoryStore
let database: DatabaseSync
const open = () =>
  openTrajectoryStore(folder, {
    now: () => new Date(now),
    onOpened(connection) {
      // No test here cuts the power.
      connection.exec('PRAGMA synchronous = OFF')
    },
  })
beforeEach(() => {
  folder = folderOfTest()
  now = Date.parse('2026-01-01T00:00:00Z')
  store = open()
  database = new DatabaseSync(path.join(folder, 'rollscope.db'))
})
afterEach(() => {
  database.close()
  store.close()
})

/** Opens the store again two days later, which purges deleted trajectories. */
function purge(): void {
  store.close()
  now += 2 * DAY_MS
  store = open()
}

const texts = () => Number(database.prepare('SELECT count(*) AS n FROM shared_texts').get()?.n)
const uses = () =>
  database
    .prepare('SELECT uses FROM shared_texts ORDER BY id')
    .all()
    .map((row) => row.uses)

const { tokenizer: _, ...model } = randomTrajectory('', 0).model
const of = (id: string, segments: readonly Segment[]): Trajectory => ({ ...randomTrajectory(id, 0), model, segments })
const prompt = (tokens: number, content = 'q'): Segment => ({
  kind: 'prompt',
  ids: Array.from({ length: tokens }, (_, index) => index),
  messages: [{ role: 'user', content }],
})
const response = (tokens: number): Segment => ({
  kind: 'response',
  ids: Array.from({ length: tokens }, (_, index) => index),
  logprobs: Array.from({ length: tokens }, (_, index) => -(index + 1) / 7),
  thinks: [],
  toolCalls: [],
})

describe('A segment that several trajectories have', () => {
  test('is stored once, until the last of them is purged', () => {
    const all = ['a', 'b', 'c'].map((id) => of(id, [prompt(1000)]))
    for (const one of all) store.add(one)
    expect(uses()).toEqual([3])
    store.remove('a')
    expect(uses()).toEqual([3])
    purge()
    expect(uses()).toEqual([2])
    expect([store.get('a'), store.get('b')]).toEqual([undefined, all[1]])
    for (const key of ['b', 'c']) store.remove(key)
    store.restore('b')
    purge()
    expect(uses()).toEqual([1])
    store.remove('b')
    purge()
    expect(texts()).toBe(0)
  })

  test('stays in the rows of its trajectories if its text is short', () => {
    const short = of('a', [prompt(SHORTEST_SHARED / 16)])
    for (const id of ['a', 'b']) store.add({ ...short, id })
    expect([texts(), store.get('b')]).toEqual([0, { ...short, id: 'b' }])
  })

  test('is not changed for the others when one of them replaces it', () => {
    for (const id of ['a', 'b']) store.add(of(id, [prompt(1000), response(1000)]))
    store.update('a', of('a', [prompt(1000), response(999)]), 1)
    expect(store.get('b')).toEqual(of('b', [prompt(1000), response(1000)]))
    expect(uses()).toEqual([2, 1, 1])
  })

  test('is not counted for a change of a group that fails', async () => {
    store.add(of('a', [prompt(1000)]))
    const failing = store.groupCommit(() => {
      store.add(of('b', [prompt(1000)]))
      throw new Error('no')
    })
    const [, failed] = await Promise.allSettled([store.groupCommit(() => store.add(of('c', [prompt(1000)]))), failing])
    expect([failed?.status, uses()]).toEqual(['rejected', [2]])
  })
})

test('A response that a branch cuts has the parts before the cut in common with its origin', () => {
  const whole = of('whole', [prompt(1000), response(3 * PART + 1)])
  const cut = randomBranch(whole, 'cut', 1000 + 2 * PART + 5, 3)
  store.add(whole)
  const before = texts()
  store.add(cut)
  const shared = Number(database.prepare('SELECT count(*) AS n FROM shared_texts WHERE uses = 2').get()?.n)
  // The prompt, and two parts of ids and of logprobs.
  expect(shared).toBe(5)
  expect(before).toBe(1 + 2 * 3)
  expect(encode(store.get('cut') as Trajectory)).toBe(encode(cut))
})

describe('A shared text that is damaged', () => {
  const [a, b] = [of('a', [prompt(1000)]), of('b', [prompt(1000)])]
  const other = of('other', [prompt(1000, 'another question')])
  beforeEach(() => {
    for (const one of [a, b, other]) store.add(one)
  })
  const damage = (change: string) => database.exec(`${change} WHERE uses = 2`)

  test.each([
    ['is not JSON', `UPDATE shared_texts SET text = '{"cut'`, 'damaged, which is stored once for 2 segments'],
    ['has another token id', `UPDATE shared_texts SET text = replace(text, '998,', '997,')`, 'damaged'],
    ['is missing', 'DELETE FROM shared_texts', 'missing'],
  ])('because it %s makes exactly the trajectories that use it unreadable', (_, change, problem) => {
    damage(change)
    for (const key of ['a', 'b'])
      expect(() => store.get(key)).toThrow(
        `the stored trajectory ${key} is damaged: the shared text of segments[0] is ${problem}`,
      )
    expect(store.get('other')).toEqual(other)
    const reader = openTrajectoryReader(folder)
    expect(reader.read('a')?.found).toContain('the shared text of segments[0]')
    reader.close()
  })

  test('is not used by a trajectory that is stored later, so the file of a damaged one can be imported again', () => {
    damage(`UPDATE shared_texts SET text = replace(text, '998,', '997,')`)
    store.remove('a')
    expect(store.add(a)).toBe('a')
    expect(store.get('a')).toEqual(a)
    expect(() => store.get('b')).toThrow('damaged')
    expect(wrongUses(database)).toEqual([])
  })
})

/** Steps that change a forest. `which` chooses a trajectory, `at` a token or a segment. */
const steps = fc.array(
  fc.record({
    change: fc.constantFrom(
      ...(['root', 'sample', 'branch', 'branch', 'branch', 'again', 'replace', 'label'] as const),
      ...(['remove', 'remove', 'restore', 'purge', 'import', 'discard'] as const),
    ),
    which: fc.nat(),
    at: fc.nat(),
    // Few seeds: some segments are equal without a common origin.
    seed: fc.nat(30),
  }),
  { minLength: 1, maxLength: 12 },
)
type Step = (typeof steps extends fc.Arbitrary<infer S extends readonly unknown[]> ? S : never)[number]

test('Random forests of groups and branches, which are changed, deleted and restored, read back as they were sent', () => {
  const importing = openImportStore(folder, () => new Date(now))
  let count = 0
  fc.assert(
    fc.property(steps, (all) => {
      const stored = new Map<string, Trajectory>()
      const deleted = new Set<string>()
      for (const step of all) apply(step, stored, deleted)
      expect(wrongUses(database)).toEqual([])
      for (const key of deleted) expect([store.get(key), store.restore(key)?.key]).toEqual([undefined, key])
      for (const [key, sent] of stored) expect(encode(store.get(key) as Trajectory)).toBe(encode(sent))
      for (const key of stored.keys()) store.remove(key)
      purge()
      expect(texts()).toBe(0)
    }),
    { numRuns: runs(40) },
  )
  importing.close()

  function apply({ change, which, at, seed }: Step, stored: Map<string, Trajectory>, deleted: Set<string>): void {
    const keys = [...stored.keys()]
    const key = keys[which % keys.length] ?? ''
    const one = stored.get(key) ?? randomTrajectory('first', 1)
    const id = `t${count++}`
    const branch = () => randomBranch(one, id, 1 + (at % tokenCount(one)), seed)
    const add = (sent: Trajectory) => stored.set(store.add(sent), sent)
    switch (change) {
      case 'root':
        add(randomTrajectory(id, seed))
        break
      case 'sample':
        add({ ...one, id, segments: [...one.segments.slice(0, 1), ...randomSegments(seed)] })
        break
      case 'branch':
        add(branch())
        break
      case 'import':
      case 'discard': {
        const sent = branch()
        const added = importing
          .add([sent], { digest: id, derivedIds: new Set(), isCompleted: false })
          .map((inserted) => inserted.key)
        if (change === 'import') importing.publish(added)
        else importing.discard(added)
        if (change === 'import') stored.set(id, sent)
        break
      }
      case 'purge':
        purge()
        for (const purged of deleted) stored.delete(purged)
        deleted.clear()
        break
      default:
        if (stored.has(key)) applyTo(change)
    }

    function applyTo(rest: 'again' | 'replace' | 'label' | 'remove' | 'restore'): void {
      const from = at % (one.segments.length + 1)
      switch (rest) {
        case 'again':
          expect(store.add(one)).toBe(key)
          deleted.delete(key)
          break
        case 'replace': {
          const changed = { ...one, segments: [...one.segments.slice(0, from), ...randomSegments(seed)] }
          store.update(key, changed, from)
          stored.set(key, changed)
          break
        }
        case 'label':
          // A deleted trajectory has no labels to change.
          if (store.label(key, { title: id })) stored.set(key, { ...one, title: id })
          break
        case 'remove':
          store.remove(key)
          deleted.add(key)
          break
        case 'restore':
          store.restore(key)
          deleted.delete(key)
      }
    }
  }
})

test('A process that is killed while it stores branches loses no stored one and leaves no text without a user', async () => {
  store.close()
  const program = `
    const { openTrajectoryStore } = await import(${JSON.stringify(path.join(import.meta.dirname, '../trajectories.ts'))})
    const { randomBranch, randomTrajectory } = await import(${JSON.stringify(path.join(process.cwd(), 'testing/stored-forests.ts'))})
    const [folder, prefix] = process.argv.slice(1)
    const store = openTrajectoryStore(folder, { now: () => new Date() })
    const root = randomTrajectory(prefix, 5)
    store.add(root)
    for (let n = 0; ; n++) {
      const key = prefix + n
      store.add(randomBranch(root, key, 1 + 97 * n % 5000, n))
      if (n % 3 === 0) store.update(key, randomBranch(root, key, 1 + 89 * n % 5000, n), 0)
      process.stdout.write(n + '\\n')
    }`
  for (const [round, prefix] of ['x', 'y'].entries()) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, folder, prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let last = -1
    for await (const line of createInterface(child.stdout)) {
      last = Number(line)
      if (last >= 3 + 5 * round) child.kill('SIGKILL')
    }
    await exited
    const again = open()
    expect(wrongUses(database)).toEqual([])
    const root = randomTrajectory(prefix, 5)
    for (let n = 0; n <= last; n++) {
      const tokens = 1 + (((n % 3 === 0 ? 89 : 97) * n) % 5000)
      expect(encode(again.get(`${prefix}${n}`) as Trajectory)).toBe(
        encode(randomBranch(root, `${prefix}${n}`, tokens, n)),
      )
    }
    again.close()
  }
  store = open()
})
