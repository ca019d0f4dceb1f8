/** Tests the trees of groups with the real thread and a real store. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type GroupForest, groupForestSchema } from '#lib/api/forest/group-forest.ts'
import { openPackedWriter } from '#lib/store/packed.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { exportRequestSchema, exportSeveral } from '../exports/export.ts'
import { exportTrajectory } from '../exports/export-trajectory.ts'
import { checkedJson } from '../http/body.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { createForests, type Forests, forestOfGroup, forestOfSelection, forestRequestSchema } from './forests.ts'

const folder = folderOfFile()
let store: TrajectoryStore
let forests: Forests
const lookedAt = vi.fn()
const recheck = vi.fn()
let all: Services
beforeAll(() => {
  store = openTrajectoryStore(folder, { now: () => new Date() })
  forests = createForests({
    workerFile: path.resolve('lib/server/forest/forest-worker.ts'),
    start: { dataFolder: folder },
  })
  all = {
    store,
    forests,
    runs: { lookedAt },
    groups: { isRunning: () => false },
    health: { recheck },
  } as unknown as Services
})
afterAll(async () => {
  await forests.close()
  store.close()
})
beforeEach(() => {
  lookedAt.mockClear()
  recheck.mockClear()
})

let count = 0
const unique = (name: string): string => `${name} ${count++}`

function sampleOf(group: string, index: number, ids: readonly number[], reward?: number): Trajectory {
  const segments: Segment[] = [
    { kind: 'prompt', ids: [1, 2], messages: [] },
    {
      kind: 'response',
      ids: [...ids],
      logprobs: ids.map(() => -0.5),
      finish: { kind: 'stop' },
      thinks: [],
      toolCalls: [],
    },
  ]
  const { reward: _, ...base } = sample
  return {
    ...base,
    id: `${group} ${index}`,
    vocab: { ...Object.fromEntries(Array.from({ length: 50 }, (_, id) => [id, `${id}`])), 7: 'find', 8: 'ls' },
    segments,
    group: { id: group, index },
    ...(reward !== undefined && { reward }),
  }
}

const storedGroup = (rewards: readonly number[], continuation: readonly number[] = [9]) => {
  const group = unique('group')
  const keys = store.addAll(
    rewards.map((reward, index) => sampleOf(group, index, [3, reward >= 0.5 ? 7 : 8, ...continuation], reward)),
  )
  return { group, keys }
}

const responseOf = (group: string, query = '') =>
  forestOfGroup(group, new Request(`http://localhost/api/groups/${encodeURIComponent(group)}/forest${query}`), all)
const forestIn = async (response: Response): Promise<GroupForest> => groupForestSchema.parse(await response.json())
const forest = async (group: string, query = '') => forestIn(await responseOf(group, query))
const selection = async (body: unknown) =>
  forestOfSelection(checkedJson(JSON.stringify(body), forestRequestSchema), all)

/** Opens the store two days later, which purges what is deleted. */
const purgeDeleted = () => openTrajectoryStore(folder, { now: () => new Date(Date.now() + 2 * 86_400_000) }).close()

async function problem(answer: Promise<unknown>) {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof HttpProblem)) throw new Error(`it was not refused: ${error}`)
  return error.details
}

describe('The trees of a group', () => {
  test('have the decisive token with its texts, and advantages by the formula of the request', async () => {
    const { group, keys } = storedGroup([1, 1, 0, 0])
    const { splits, decisive, samples, formula, group: facts, nodes } = await forest(group, '?advantage=mean-by-length')
    expect(facts).toEqual({ id: group, reward: null })
    expect(formula).toBe('mean-by-length')
    expect(decisive).toMatchObject({ position: 3, difference: 1, chance: 1 / 3 })
    expect(splits[0]?.branches.map(({ text, probability }) => [text, probability])).toEqual([
      ['find', Math.exp(-0.5)],
      ['ls', Math.exp(-0.5)],
    ])
    expect(samples.map(({ advantage, tokenAdvantage }) => [advantage, tokenAdvantage])).toEqual([
      [0.5, 0.5 / 3],
      [0.5, 0.5 / 3],
      [-0.5, -0.5 / 3],
      [-0.5, -0.5 / 3],
    ])
    expect(nodes).toHaveLength(4)
    expect(lookedAt.mock.calls.map(([key]) => key)).toEqual(keys)
  })

  test('are answered with 204 while nothing changes, and change with a reward, a formula and a deleted sample', async () => {
    const { group, keys } = storedGroup([1, 0])
    const { revision } = await forest(group)
    const again = await responseOf(group, `?known=${revision}`)
    expect([again.status, await again.text()]).toEqual([204, ''])
    expect((await forest(group, `?known=${revision}&advantage=mean`)).revision).not.toBe(revision)
    store.label(keys[1] ?? '', { reward: 0.25 })
    const changed = await forest(group, `?known=${revision}`)
    expect(changed.samples[1]?.row.reward).toBe(0.25)
    store.remove(keys[1] ?? '')
    expect((await forest(group, `?known=${changed.revision}`)).samples).toHaveLength(1)
  })

  test('follow a running sample: its closed segments are in the tree', async () => {
    const group = unique('group')
    const ended = sampleOf(group, 0, [3])
    const running: Trajectory = { ...ended, segments: ended.segments.slice(0, 1), outcome: { kind: 'running' } }
    const key = store.add(running, { runsHere: true })
    const first = await forest(group)
    expect(first.nodes.map(({ end }) => end)).toEqual([2])
    // Another instance may run it, so the groups of this one do not count.
    expect(first.isRunning).toBe(true)
    store.update(key, { ...running, segments: ended.segments }, 1)
    const second = await forest(group, `?known=${first.revision}`)
    expect(second.nodes.map(({ end }) => end)).toEqual([2, 3])
    store.update(key, ended, 2)
  })

  test('are built without a damaged sample, which stays in the list with its finding', async () => {
    const { group, keys } = storedGroup([1, 0, 1])
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.prepare('UPDATE headers SET header = ? WHERE key = ?').run('{', keys[1] ?? '')
    database.close()
    const { samples, counts, nodes } = await forest(group)
    expect(samples.map(({ finding }) => finding?.code)).toEqual([undefined, 'damaged', undefined])
    expect(samples[1]?.finding?.message).toMatch(/^It cannot be read: .*JSON/)
    expect(counts.leaves).toBe(2)
    expect(nodes.every(({ samples: through }) => !through.includes(1))).toBe(true)
  })

  test('read packed copies, and request those that are missing', async () => {
    const long = Array.from({ length: 12_000 }, (_, index) => index % 50)
    const { group, keys } = storedGroup([1, 0], long)
    const first = await forest(group)
    expect(recheck.mock.calls.map(([key]) => key)).toEqual(keys)
    const writer = openPackedWriter(folder)
    for (const key of keys) {
      const { sequence } = new DatabaseSync(path.join(folder, 'rollscope.db'))
        .prepare('SELECT sequence FROM trajectories WHERE key = ?')
        .get(key) as { readonly sequence: number }
      const trajectory = store.get(key)
      if (trajectory) writer.write(key, { sequence, revision: store.revision(key) ?? 0 }, trajectory)
    }
    writer.close()
    recheck.mockClear()
    // Another thread has nothing in memory.
    await forests.close()
    store.label(keys[0] ?? '', { note: 'seen' })
    const second = await forest(group)
    expect({ ...second, revision: '', samples: [] }).toEqual({ ...first, revision: '', samples: [] })
    expect(recheck).not.toHaveBeenCalled()
  })

  test('of more than 256 samples have the first ones, with advantages over all', async () => {
    const { group } = storedGroup(Array.from({ length: 258 }, (_, index) => (index < 256 ? 1 : 0)))
    const { samples, notes, rewards } = await forest(group, '?advantage=mean')
    expect(samples).toHaveLength(256)
    expect(notes[0]).toEqual({ code: 'left-out', message: 'The group has 258 samples; the first 256 are shown.' })
    expect(rewards?.scored).toBe(258)
    expect(samples[0]?.advantage).toBeCloseTo(2 / 258, 12)
  })

  test('say how many samples were deleted, for a day, and always if the group began here', async () => {
    const deletedNote = async (group: string) =>
      (await forest(group)).notes.find(({ code }) => code === 'deleted-samples')?.message
    const [imported, own] = [storedGroup([1, 1, 0]), storedGroup([1, 1, 0])]
    store.setGroupStart(own.group, { samples: 3, refused: [] })
    const before = await forest(own.group)
    expect(before.notes).toEqual([])
    for (const { keys } of [imported, own]) store.remove(keys[2] ?? '')
    const message = '1 of 3 samples was deleted: counts, rewards and advantages are of the other 2.'
    expect([await deletedNote(imported.group), await deletedNote(own.group)]).toEqual([message, message])
    const response = await responseOf(own.group, `?known=${before.revision}`)
    expect(response.status).toBe(200)
    purgeDeleted()
    expect([await deletedNote(imported.group), await deletedNote(own.group)]).toEqual([undefined, message])
    for (const key of own.keys.slice(0, 2)) store.remove(key)
    purgeDeleted()
    expect(store.groupStart(own.group)).toBeUndefined()
  })

  test('are computed once for requests at the same time', async () => {
    const { group } = storedGroup([1, 0])
    const ask = vi.spyOn(forests, 'textOf')
    const [one, other] = await Promise.all([forest(group), forest(group)])
    expect(one).toEqual(other)
    const replies = await Promise.all(ask.mock.results.map(({ value }) => value))
    expect(replies[0]).toBe(replies[1])
    ask.mockRestore()
  })

  test('of an unknown group, a wrong formula or too many tokens are refused with the reason', async () => {
    expect(await problem(Promise.resolve().then(() => responseOf('none')))).toMatchObject({
      status: 404,
      code: 'NO_GROUP',
      hint: expect.stringMatching(/deleted.*library/),
    })
    const { group, keys } = storedGroup([1])
    expect(await problem(Promise.resolve().then(() => responseOf(group, '?advantage=median')))).toMatchObject({
      status: 400,
    })
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.prepare('UPDATE trajectories SET tokens = 20000001 WHERE key = ?').run(keys[0] ?? '')
    database.close()
    expect(await problem(responseOf(group))).toMatchObject({
      status: 422,
      code: 'TOO_LARGE',
      detail: 'the samples have 20000001 tokens; a tree is built of at most 20000000',
    })
  })
})

describe('An export with advantages', () => {
  const exported = async (keys: readonly (string | undefined)[], advantage: string, format = 'rollscope') => {
    const body = checkedJson(JSON.stringify({ keys, advantage, format }), exportRequestSchema)
    const text = await (await exportSeveral(body, all)).text()
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  test('compares each sample with its group, and trajectories without a group with each other', async () => {
    const { keys } = storedGroup([1, 0, 0.5])
    const { group: _, ...alone } = sampleOf(unique('alone'), 0, [3], 3)
    const others = store.addAll([alone, { ...alone, id: unique('alone'), reward: 1 }])
    const lines = await exported([keys[0], ...others], 'mean')
    expect(lines.map(({ segments }) => segments[1].columns.advantage)).toEqual([[0.5, 0.5, 0.5], [1], [-1]])
    expect(lines[0].segments[0].columns.advantage).toEqual([null, null])
    expect(lines[0].columnMeanings.advantage.source).toBe('Rollscope, mean')
    const [trace] = await exported([keys[0]], 'mean-by-length', 'verifiers')
    expect(trace.nodes.at(-1).advantages).toEqual([0.5 / 3, 0.5 / 3, 0.5 / 3])
  })

  test('of one sample compares it with its group too', async () => {
    const { keys } = storedGroup([1, 0])
    const request = new Request('http://localhost/?advantage=leave-one-out')
    const { segments } = await (await exportTrajectory(request, keys[1] ?? '', all)).json()
    expect(segments[1].columns.advantage).toEqual([-1, -1, -1])
    const plain = await (await exportTrajectory(new Request('http://localhost/'), keys[1] ?? '', all)).json()
    expect(plain.segments[1]).not.toHaveProperty('columns')
  })

  test('keeps a sample without a reward unchanged, and is refused if no trajectory has an advantage', async () => {
    const { keys } = storedGroup([1, 0, 0])
    store.label(keys[2] ?? '', { reward: null })
    const lines = await exported(keys, 'mean')
    expect(lines.map(({ segments }) => segments[1].columns?.advantage?.[0])).toEqual([0.5, -0.5, undefined])
    expect(await problem(exported([keys[2]], 'mean'))).toMatchObject({
      status: 422,
      code: 'NO_ADVANTAGE',
      field: 'advantage',
    })
    expect(await problem(exported(['gone'], 'mean'))).toMatchObject({ status: 422, code: 'NO_ADVANTAGE' })
    expect(await problem(exported(keys, 'median'))).toMatchObject({ status: 422 })
  })
})

describe('The trees of a selection', () => {
  test('are in the order of its keys, with advantages over them, and name the keys that are not stored', async () => {
    const { keys } = storedGroup([1, 0, 0.5])
    const answer = await forestIn(await selection({ keys: [keys[2], 'gone', keys[0]], advantage: 'mean' }))
    expect(answer.samples.map(({ row }) => row.key)).toEqual([keys[2], keys[0]])
    expect(answer.samples.map(({ advantage }) => advantage)).toEqual([-0.25, 0.25])
    expect(answer).toMatchObject({ group: null, missing: ['gone'], isRunning: false, formula: 'mean' })
    expect(
      (await selection({ keys: [keys[2], 'gone', keys[0]], advantage: 'mean', known: answer.revision })).status,
    ).toBe(204)
  })

  test('are refused if no key is stored, or if a key is there twice', async () => {
    expect(await problem(selection({ keys: ['gone'] }))).toMatchObject({
      status: 404,
      code: 'NO_TRAJECTORY',
      field: 'keys',
    })
    expect(await problem(selection({ keys: ['a', 'a'] }))).toMatchObject({ status: 422 })
  })
})
