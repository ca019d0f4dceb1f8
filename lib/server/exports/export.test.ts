/** Tests exports with a real store. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EXCLUDED_HEADER, exportPreviewSchema } from '#lib/api/export-preview.ts'
import { openText } from '#lib/formats/reading/open.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { openImportStore } from '#lib/store/import-store.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Services } from '../services.ts'
import { exportPreview, exportSeveral } from './export.ts'
import { exportTrajectory } from './export-trajectory.ts'

let folder: string
let store: TrajectoryStore
let all: Services
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
  all = { store } as unknown as Services
  for (const id of ['a', 'b', 'c']) store.add({ ...sample, id })
})
afterEach(() => store.close())

describe('Export of several trajectories', () => {
  test('writes a line for each in the requested order, and every line is a complete file', async () => {
    const response = await exportSeveral({ keys: ['c', 'a'] }, all)
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="trajectories-2.jsonl"')
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.map((line) => decode(line))).toEqual([
      { ok: true, trajectory: store.get('c') },
      { ok: true, trajectory: store.get('a') },
    ])
  })

  const group = (id: string, index: number) => ({ group: { id, index } })
  const empty = { segments: [], outcome: { kind: 'failed', code: 'UNREACHABLE', message: 'No answer.' } } as const

  test('as slime gives each group its own group_index, and a file that is read back keeps it', async () => {
    const samples = [group('one', 0), group('two', 0), group('one', 1), {}]
    const stored = samples.map((part, n) => store.add({ ...sample, id: `s${n}`, ...part }))
    const text = await (await exportSeveral({ keys: stored, format: 'slime' }, all)).text()
    const numbers = (jsonl: string) =>
      jsonl
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ group_index, index }) => [group_index, index])
    expect(numbers(text)).toEqual([
      [0, 0],
      [1, 2],
      [0, 1],
      [null, null],
    ])
    const opened = openText(text, { file: 'a.jsonl', now: sample.createdAt, newId: () => randomUUID() })
    if (!opened.ok) return expect.unreachable()
    const again = await exportSeveral({ keys: [...store.addAll(opened.trajectories)], format: 'slime' }, all)
    expect(numbers(await again.text())).toEqual(numbers(text))
  })

  /** Returns the keys of the imported samples of a slime file. Each row has the group, the index and the reward of a sample. */
  function importSlime(file: string, rows: readonly (readonly [number, number, number])[]): readonly string[] {
    const lines = rows.map(([group_index, index, reward]) =>
      JSON.stringify({ tokens: [1, 2], response_length: 1, status: 'completed', group_index, index, reward }),
    )
    const source = { file, now: sample.createdAt, newId: () => randomUUID() }
    const opened = openText(lines.join('\n'), source)
    const importing = openImportStore(folder, () => new Date())
    const imported = { digest: randomUUID(), derivedIds: new Set<string>(), isCompleted: false }
    const keys = importing.add(opened.ok ? opened.trajectories : [], imported).map(({ key }) => key)
    importing.publish(keys)
    importing.close()
    return keys
  }

  /** Returns the advantage of the trained token of each trajectory. */
  async function advantagesOf(keys: readonly string[]): Promise<readonly unknown[]> {
    const text = await (await exportSeveral({ keys: [...keys], advantage: 'mean' }, all)).text()
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).segments[1].columns?.advantage?.[0])
  }

  test('compares each sample of an imported file with its group in that file, also if only a part is exported', async () => {
    const keys = importSlime('a.jsonl', [
      [0, 0, 1],
      [0, 1, 1],
      [1, 2, 5],
      [1, 3, 5],
      [0, 4, 0],
      [0, 5, 0],
      [1, 6, 9],
      [1, 7, 9],
    ])
    expect(await advantagesOf(keys)).toEqual([0.5, 0.5, -2, -2, -0.5, -0.5, 2, 2])
    expect(await advantagesOf(keys.slice(0, 1))).toEqual([0.5])
    expect(store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 8 }).rows[0]?.group).toBe(null)
  })

  test('does not compare samples of different imports, although their files and groups have the same names', async () => {
    const both = [1, 3].map((reward) =>
      importSlime('a.jsonl', [
        [0, 0, reward],
        [0, 1, reward + 1],
      ]),
    )
    expect(await advantagesOf(both.flat())).toEqual([-0.5, 0.5, -0.5, 0.5])
  })

  test('counts a rollout once in the mean of its group, although each of its paths is a trajectory', async () => {
    const keys = importSlime('a.jsonl', [
      [0, 0, 1],
      [0, 0, 1],
      [0, 1, 0],
    ])
    expect(await advantagesOf(keys)).toEqual([0.5, 0.5, -0.5])
  })

  test('gives groups of different files with the same id different ids, and says that the second one loses its own', async () => {
    const rows = [
      [0, 0, 1],
      [0, 1, 0],
    ] as const
    const keys = [...importSlime('a.jsonl', rows), ...importSlime('b.jsonl', rows)]
    const linesAs = async (format: string) =>
      (await (await exportSeveral({ keys, format }, all)).text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect((await linesAs('slime')).map(({ group_index, index }) => [group_index, index])).toEqual([
      [0, 0],
      [0, 1],
      [1, 2],
      [1, 3],
    ])
    expect((await linesAs('skyrl')).map(({ trajectory_ids: [id] }) => [id.instance_id, id.repetition_id])).toEqual([
      ['0', 0],
      ['0', 1],
      ['1', 0],
      ['1', 1],
    ])
    expect((await linesAs('rollscope')).map(({ group }) => group.id)).toEqual(['0', '0', '0', '0'])
    const { formats } = await exportPreview({ keys }, all)
    const lossesOf = (name: string) => formats.find((format) => format.name === name)?.lost
    const lost = { text: 'id of the group: the file has a number instead', samples: 2 }
    for (const name of ['slime', 'skyrl', 'parquet']) expect(lossesOf(name)).toContainEqual(lost)
    for (const name of ['rollscope', 'torchrl']) expect(lossesOf(name)).not.toContainEqual(lost)
  })

  test('lists the same losses for one sample and for its whole group, in every format', async () => {
    const stored = [0, 1].map((index) => store.add({ ...sample, id: `g${index}`, ...group('one', index) }))
    const preview = await exportPreview({ keys: stored }, all)
    expect(exportPreviewSchema.parse(preview)).toEqual(preview)
    expect(preview).toMatchObject({ samples: 2, excluded: [] })
    expect(preview.formats).toEqual(
      writableFormats.map(({ name, write }) => ({
        name,
        lost: write({ ...sample, ...group('one', 0) }).losses.map((text) => ({ text, samples: 2 })),
      })),
    )
  })

  test('for a trainer leaves out trajectories without tokens, and the preview reports which and why', async () => {
    store.add({ ...sample, ...empty, id: 'e', title: 'Failed at once', ...group('one', 2) })
    store.add({ ...sample, segments: [], id: 'f', outcome: { kind: 'running' } }, { runsHere: true })
    store.add({ ...sample, segments: [], id: 'g', ...group('one', 0), outcome: { kind: 'ended', reason: 'cancelled' } })
    const keys = ['e', 'a', 'f', 'g']
    const response = await exportSeveral({ keys, format: 'slime' }, all)
    expect(response.headers.get(EXCLUDED_HEADER)).toBe('3')
    expect(response.headers.get('content-disposition')).toContain('trajectories-1.slime.jsonl')
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(1)
    expect(await exportPreview({ keys }, all)).toMatchObject({
      samples: 1,
      excluded: [
        {
          key: 'e',
          title: 'Failed at once · sample 3',
          why: 'No tokens: the run failed before its first token with UNREACHABLE: No answer.',
        },
        { key: 'f', title: 'f', why: 'No tokens: the run has just started.' },
        { key: 'g', title: 'sample 1', why: 'No tokens: the run ended before its first token (cancelled).' },
      ],
    })
  })

  test.each(['rollscope', 'openai-messages', 'template-messages', 'atif', 'csv'])(
    'as %s contains trajectories without tokens, and the preview counts their losses',
    async (format) => {
      store.add({ ...sample, ...empty, id: 'e' })
      const response = await exportSeveral({ keys: ['e', 'a'], format }, all)
      expect(response.headers.get(EXCLUDED_HEADER)).toBe('0')
      expect(response.headers.get('content-disposition')).toContain('trajectories-2.')
      const lines = (await response.text()).trimEnd().split('\n')
      expect(lines.length).toBeGreaterThan(1)
      const { formats } = await exportPreview({ keys: ['e', 'a'] }, all)
      const counts = formats.find(({ name }) => name === format)?.lost.map(({ samples }) => samples) ?? []
      expect(Math.max(2, ...counts)).toBe(2)
      expect(counts.length > 0).toBe(format !== 'rollscope')
    },
  )

  test('for a trainer is refused with the reason and the other formats if no trajectory has tokens', async () => {
    store.add({ ...sample, ...empty, id: 'e' })
    store.add({ ...sample, ...empty, id: 'f' })
    const hint = expect.stringContaining('These formats need no tokens: rollscope, ')
    await expect(exportSeveral({ keys: ['e'], format: 'slime' }, all)).rejects.toMatchObject({
      details: { status: 422, code: 'NO_TOKENS', detail: expect.stringContaining('UNREACHABLE'), hint },
    })
    await expect(exportSeveral({ keys: ['e', 'f'], format: 'verl' }, all)).rejects.toMatchObject({
      details: { code: 'NO_TOKENS', detail: expect.stringContaining('none of the 2 trajectories has tokens') },
    })
    const single = (format: string) => exportTrajectory(new Request(`http://h/x?format=${format}`), 'e', all)
    await expect(single('slime')).rejects.toMatchObject({ details: { status: 422, code: 'NO_TOKENS' } })
    for (const format of ['rollscope', 'openai-messages', 'template-messages', 'atif', 'csv'])
      expect((await single(format)).status, format).toBe(200)
  })

  test('says that a trajectory has messages only', async () => {
    const segments = [{ kind: 'prompt' as const, ids: [], messages: [{ role: 'user' as const, content: 'Hi' }] }]
    store.add({ ...sample, segments, id: 'e' })
    const why = 'No tokens: it has messages only.'
    expect(await exportPreview({ keys: ['e'] }, all)).toMatchObject({ excluded: [{ why }] })
    await expect(exportTrajectory(new Request('http://h/x?format=slime'), 'e', all)).rejects.toMatchObject({
      details: { detail: expect.stringContaining(why), hint: expect.stringContaining('openai-messages') },
    })
  })

  test('ends when the client has left', async () => {
    await expect(exportPreview({ keys: ['a'] }, all, AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
  })

  test('reads each trajectory when the one before has been taken', async () => {
    let reads = 0
    const counting: TrajectoryStore = {
      ...store,
      get: (key) => {
        reads++
        return store.get(key)
      },
    }
    const many = Array.from({ length: 50 }, (_, n) => store.add({ ...sample, id: `n${n}` }))
    const response = await exportSeveral({ keys: many }, { ...all, store: counting })
    // All have been read once by now, and one may be read ahead.
    expect(reads).toBeLessThanOrEqual(many.length + 2)
    reads -= many.length
    const body = response.body?.getReader()
    for (let taken = 1; taken <= 3; taken++) {
      await body?.read()
      expect(reads).toBeLessThanOrEqual(taken + 2)
    }
    await body?.cancel()
    expect(reads).toBeLessThan(10)
  })

  test('reports missing trajectories before it begins', async () => {
    store.remove('b')
    await expect(exportSeveral({ keys: ['a', 'z'] }, all)).rejects.toMatchObject({
      details: { status: 404, detail: 'there is no such trajectory: "z"' },
    })
    await expect(exportSeveral({ keys: ['a', 'b'] }, all)).rejects.toMatchObject({ details: { code: 'DELETED' } })
    await expect(exportSeveral({ keys: ['a'], format: 'x' }, all)).rejects.toMatchObject({
      details: { code: 'NO_FORMAT' },
    })
  })

  test('reports unreadable trajectories before it begins', async () => {
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec("UPDATE headers SET header = '{' WHERE key IN ('a', 'c')")
    database.close()
    await expect(exportSeveral({ keys: ['b', 'a', 'c'] }, all)).rejects.toMatchObject({
      details: { status: 500, code: 'DAMAGED', detail: 'stored trajectories that cannot be read: a, c' },
    })
  })
})
