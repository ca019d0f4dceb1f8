/** Tests everything that people do with stored trajectories: label, search, sort, page, delete, restore. */

import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ListSort, SORT_COLUMNS } from '#lib/api/library.ts'
import { changedLabels, type LabelChange, labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { runs } from '#testing/property-runs.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { anyText } from '#testing/strings.ts'
import { openTrajectoryStore, type TrajectoryStore } from '../trajectories.ts'
import type { ListFilter } from './listing.ts'
import { recordIndex } from './search-index.ts'

const HOUR = 60 * 60_000
const BEGIN = Date.parse('2026-03-01T12:00:00Z')

let folder: string
let clock: number
let store: TrajectoryStore
beforeEach(() => {
  folder = folderOfTest()
  clock = BEGIN
  store = open()
})
afterEach(() => store.close())

const open = (where = folder) => openTrajectoryStore(where, { now: () => new Date(clock) })
const reopen = () => {
  store.close()
  store = open()
}

const newest: ListSort = { by: 'added', order: 'desc' }
const keys = (filter: ListFilter = {}, sort = newest) =>
  store.list({ filter, sort, limit: 1000 }).rows.map(({ key }) => key)
const row = (key: string) =>
  store.list({ filter: {}, sort: newest, limit: 1000 }).rows.find((found) => found.key === key)

const turn = (content: string) => ({
  messages: [{ role: 'user', content } as const],
  reply: [65, 66],
  finish: { kind: 'stop' } as const,
})
const asking = (id: string, question: string): Trajectory => ({
  ...simulateRollout(chatml, [turn(question)]).trajectory,
  id,
})

describe('labels of a stored trajectory', () => {
  test('set during a run are kept when it saves its record', () => {
    const whole: Trajectory = { ...asking('t', 'q'), title: 'old', note: 'kept' }
    const running = { ...whole, outcome: { kind: 'running' } } as const
    const key = store.add({ ...running, segments: [] }, { runsHere: true })
    store.update(key, { ...running, segments: whole.segments.slice(0, 1) }, 0)
    store.label(key, { title: 'new', tags: ['a'], reward: 0.5 })
    store.update(key, running, 1)
    expect(labelsOf(store.get(key) as Trajectory)).toEqual({ title: 'new', tags: ['a'], note: 'kept', reward: 0.5 })
    store.label(key, { title: null, note: null })
    store.update(key, whole, 2)
    expect(store.get(key)).toEqual({ ...withLabels(whole, { tags: ['a'], reward: 0.5 }) })
    reopen()
    expect(labelsOf(store.get(key) as Trajectory)).toEqual({ tags: ['a'], reward: 0.5 })
    expect(row(key)).toMatchObject({ title: null, question: 'q', tags: ['a'], reward: 0.5, outcome: 'end_turn' })
  })

  test('survive the death of a run’s process', () => {
    const key = store.add({ ...asking('t', 'q'), outcome: { kind: 'running' } }, { runsHere: true })
    store.label(key, { title: 'while it ran' })
    reopen()
    expect(store.get(key)).toMatchObject({ title: 'while it ran', outcome: { reason: 'interrupted' } })
  })

  test('of a file are unchanged, including a reward of null', () => {
    const file: Trajectory = { ...sample, title: '', tags: [], reward: null }
    expect(store.get(store.add(file))).toEqual(file)
  })

  test('include notes on tokens, which are kept when the trajectory has fewer tokens, and shown when it has them again', () => {
    const notes = [
      { id: '1', start: 0, end: 2, text: 'kept' },
      { id: '2', start: 11, end: 12, text: 'beyond' },
    ]
    const key = store.add(sample)
    store.label(key, { notes })
    reopen()
    expect(store.get(key)).toEqual({ ...sample, notes })
    store.update(key, { ...sample, segments: sample.segments.slice(0, 2) }, 0)
    expect(store.get(key)).toMatchObject({ notes: notes.slice(0, 1) })
    store.update(key, sample, 0)
    expect(store.get(key)).toEqual({ ...sample, notes })
    store.label(key, { notes: null })
    expect(store.get(key)).toEqual(sample)
  })

  test('cannot be set on a missing trajectory', () => {
    expect(store.label('nothing', { title: 'x' })).toBeUndefined()
  })
})

test('a list row describes the trajectory', () => {
  const provenance = { kind: 'import', format: 'slime', lacked: [], missing: ['logprob_values'] } as const
  store.add({ ...sample, provenance, tags: ['a', 'b'], reward: -1 })
  const { tokens, trained, meanLogprob } = statistics(sample)
  expect(row('sample')).toEqual({
    key: 'sample',
    id: 'sample',
    createdAt: sample.createdAt,
    addedAt: new Date(BEGIN).toISOString(),
    title: null,
    question: 'hi',
    tags: ['a', 'b'],
    note: null,
    reward: -1,
    model: 'tiny',
    outcomeKind: sample.outcome.kind,
    outcome: 'length',
    source: 'import',
    importFormat: 'slime',
    missing: ['logprob_values'],
    isEncodedAgain: false,
    segments: sample.segments.length,
    turns: sample.segments.filter(({ kind }) => kind === 'response').length,
    tokens,
    trained,
    meanLogprob,
    toolCalls: 2,
    failedCalls: 1,
    group: null,
    fork: null,
    rewardWhy: null,
    health: null,
  })
})

test('a question in parts, or one that was never read, counts as question', () => {
  store.add({
    ...sample,
    id: 'unsent',
    segments: [],
    outcome: { kind: 'failed', code: 'X', message: 'x', unsent: [{ role: 'user', content: 'never read' }] },
  })
  const [prompt] = sample.segments
  if (prompt?.kind !== 'prompt') throw new Error('the sample begins with a prompt')
  const parts = [{ type: 'image' }, { type: 'text', text: 'what is this?' }]
  store.add({ ...sample, id: 'parts', segments: [{ ...prompt, messages: [{ role: 'user', content: parts }] }] })
  expect([row('unsent')?.question, row('parts')?.question.trim()]).toEqual(['never read', 'what is this?'])
})

test('a question that is cut keeps whole characters', () => {
  store.add(asking('long', `${'a'.repeat(119)}😀?`))
  expect(row('long')?.question).toBe('a'.repeat(119))
})

test('an unread first text names the run', () => {
  const [prompt] = sample.segments
  store.add({
    ...sample,
    id: 'given',
    segments: [],
    outcome: {
      kind: 'failed',
      code: 'X',
      message: 'x',
      unsentGiven: { what: 'text', ids: prompt?.ids.slice(0, 2) ?? [] },
    },
  })
  expect(row('given')?.question).toBe(textOf(prompt?.ids.slice(0, 2) ?? [], sample.vocab))
  expect(row('given')?.question).not.toBe('')
})

test('a run that began with text or ids is named by their beginning, not by a later question', () => {
  const { trajectory } = simulateRollout(chatml, [turn('q'), turn('further')])
  const [first, ...rest] = trajectory.segments
  if (first?.kind !== 'prompt') throw new Error('it begins with a prompt')
  const given = { ...first, messages: [], derivation: { kind: 'given', what: 'ids' } } as const
  store.add({ ...trajectory, id: 'given', segments: [given, ...rest] })
  expect(row('given')?.question).toContain('<|im_start|>user\nq')
})

test('a file without a question is found by its name', () => {
  const provenance = { kind: 'import', format: 'slime', file: 'Rollout_0042.json', lacked: [] } as const
  store.add({ ...asking('asks', 'q'), provenance })
  store.add({ ...asking('silent', ' '), provenance })
  expect([row('asks')?.question, row('silent')?.question]).toEqual(['q', 'Rollout_0042.json'])
  expect(keys({ text: 'rollout_0042' })).toEqual(['silent', 'asks'])
  expect(keys({}, { by: 'title', order: 'desc' })).toEqual(['silent', 'asks'])
})

describe('search', () => {
  beforeEach(() => {
    for (const [id, question, labels] of [
      ['a', 'How many Straße_names?', { title: 'Geography', tags: ['Hard cases'] }],
      ['b', '100% of "quoted" NEAR(x, y) * stars', { note: 'looked at\nin two lines' }],
      ['c', "' OR 1=1 --", {}],
      ['d', 'plain', { title: 'ﬁne ＡＢＣ', notes: [{ id: '1', start: 0, end: 1, text: 'the Mistake' }] }],
    ] as const)
      store.add({ ...asking(id, question), ...labels, model: { ...sample.model, name: `org/Model-${id}`, tools: [] } })
  })

  test.each<[string, string[]]>([
    ['', ['d', 'c', 'b', 'a']],
    ['   ', ['d', 'c', 'b', 'a']],
    ['geo', ['a']],
    ['straße_NAMES', ['a']],
    ['hard many', ['a']],
    ['hard plain', []],
    ['org/model-', ['d', 'c', 'b', 'a']],
    ['model-b', ['b']],
    ['end_turn', ['d', 'c', 'b', 'a']],
    ['two lines', ['b']],
    ['mistake', ['d']],
    ['fine abc', ['d']],
    ["' OR 1=1 --", ['c']],
    ["' OR 1=2 --", []],
    ['"', ['b']],
    ['*', ['b']],
    ['NEAR(', ['b']],
    ['%', ['b']],
    ['%_', []],
    ['_', ['d', 'c', 'b', 'a']],
    ['s_n', []],
    ['e_n', ['a']],
    ['\\', []],
    ['\0', []],
    ['(a+)+$', []],
    ['-geo', ['d', 'c', 'b']],
    ['-two -model-c', ['d', 'a']],
    ['-"two lines" -"many straße"', ['d', 'c']],
    ['org/model- -end_turn', []],
    ['"-geo"', []],
    ['->', []],
    ['-1', []],
  ])('%j finds %j', (text, found) => {
    expect(keys({ text })).toEqual(found)
  })

  const said = (id: string, ...texts: readonly string[]): Trajectory => {
    const responses = texts.map((text) => Array.from(text, (character) => character.codePointAt(0) as number))
    return {
      ...asking(id, 'q'),
      vocab: Object.fromEntries(responses.flat().map((code) => [code, String.fromCodePoint(code)])),
      segments: responses.map((ids) => ({ kind: 'response', ids, thinks: [], toolCalls: [] })),
    }
  }

  test('finds the text of a response that an update rewrites with the same tokens, and that of the next one', () => {
    const key = store.add(said('g', 'first words'))
    store.update(key, said('g', 'first words', 'second reply'), 0, 1)
    expect([keys({ text: 'first words' }), keys({ text: 'second reply' })]).toEqual([['g'], ['g']])
    store.update(key, said('g', 'other words', 'second reply'), 0)
    expect([keys({ text: 'first words' }), keys({ text: 'other words' })]).toEqual([[], ['g']])
  })

  test('finds generated text by beginnings of words, also during the run, and exact phrases', () => {
    const whole = said('e', 'The calculator(2+2) says “4”; it is 日本語, NAÏVE.')
    const running = { ...whole, outcome: { kind: 'running' } } as const
    const key = store.add({ ...running, segments: [] }, { runsHere: true })
    expect(keys({ text: 'calc' })).toEqual([])
    store.update(key, running, 0)
    store.add(said('f', 'says calculator 4'))
    for (const [text, found] of [
      ['calc', ['f', 'e']],
      ['alculator', []],
      ['calculator(2', ['e']],
      ['"calculator 2 2 says"', ['e']],
      ['"says calculator" 4', ['f']],
      ['日本', ['e']],
      ['本', ['e']],
      ['naïve', ['e']],
      ['naive', []],
      ['calculator end_turn', ['f']],
      ['4\0 2', ['e']],
      ['calc -naïve', ['f']],
      ['calc -"says calculator"', ['e']],
    ] as const)
      expect([text, keys({ text })]).toEqual([text, found])
    store.update(key, { ...whole, segments: [] }, 0)
    expect(keys({ text: 'calc' })).toEqual(['f'])
    store.remove('f')
    clock += 30 * HOUR
    reopen()
    expect(keys({ text: 'calc' })).toEqual([])
    expect(() => store.add(said('f', 'calculator again'))).not.toThrow()
    expect(keys({ text: 'calc' })).toEqual(['f'])
  })

  test.each<[string, string[]]>([
    ['reward>0.5', ['c']],
    ['reward:1', ['c']],
    ['REWARD<=1', ['c', 'b']],
    ['reward:-2..0', ['b']],
    ['reward>=−1 tokens>0', ['c', 'b']],
    ['reward<x', []],
    ['"reward>0.5"', []],
    ['tokens>1000000', []],
    ['logprob<0 logprob>-1000', ['d', 'c', 'b', 'a']],
    ['logprob<-1000', []],
    ['turns=1 calls:0 failed<1 segments>1 trained>0', ['d', 'c', 'b', 'a']],
    ['-reward>0.5', ['d', 'b', 'a']],
    ['-reward:-2..0 -reward:1', ['d', 'a']],
    ['constructor>1', []],
  ])('the numbers of %s find %j', (text, found) => {
    store.label('b', { reward: -1 })
    store.label('c', { reward: 1 })
    expect(keys({ text })).toEqual(found)
  })

  test('unknown calls are no number, and match no search for a number', () => {
    const { tokenizer: _, parser: __, ...model } = sample.model
    const reply = { kind: 'response', ids: [8], thinks: [], toolCalls: [] } as const
    store.add({ ...sample, id: 'ids', model, segments: [reply] })
    store.add({
      ...sample,
      id: 'messages',
      model,
      segments: [{ ...reply, message: { tool_calls: [{ name: 'add' }] } }],
    })
    const found = (text: string) => keys({ text }).filter((key) => ['ids', 'messages'].includes(key))
    expect(['calls:0', 'calls>=0', 'calls>=1', 'failed:0', '-calls:0'].map(found)).toEqual([
      [],
      ['messages'],
      ['messages'],
      ['messages'],
      ['messages', 'ids'],
    ])
    expect(store.list({ filter: {}, sort: newest, limit: 2 }).rows).toMatchObject([
      { key: 'messages', toolCalls: 1, failedCalls: 0 },
      { key: 'ids', toolCalls: null, failedCalls: null },
    ])
  })

  test('accepts any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText(),
          fc
            .array(
              fc.constantFrom('"', '*', '(', ')', 'NEAR(', ' OR ', ' AND ', '{', '}', '^', ':', '-', 'a', '\0', '日'),
            )
            .map((parts) => parts.join('')),
        ),
        (text) => {
          store.list({ filter: { text }, sort: newest, limit: 1 })
        },
      ),
      { numRuns: runs(100) },
    )
  })

  test('finds generated text of records from before the index after their check', () => {
    const key = store.add(asking('old', 'q'))
    const index = recordIndex(store.get(key) as Trajectory)
    store.close()
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec('DELETE FROM generated; UPDATE trajectories SET trained_spans = NULL')
    database.close()
    store = open()
    const found = () => keys({ text: 'ab' })
    expect(found()).toEqual(['d'])
    const health = { findings: [], checks: [] }
    store.putHealth(key, { sequence: 5, revision: 1 }, health, index)
    expect(found()).toEqual(['d'])
    store.putHealth(key, { sequence: 5, revision: 0 }, health, index)
    expect(found()).toEqual(['old', 'd'])
  })

  test('finds the current labels, not earlier ones', () => {
    store.label('a', { title: 'History', tags: null })
    expect([keys({ text: 'geography' }), keys({ text: 'hard' }), keys({ text: 'history' })]).toEqual([[], [], ['a']])
  })

  test('covers the beginning of a long question', () => {
    store.add(asking('long', `${'x '.repeat(2500)} needle ${'y'.repeat(100)}`))
    store.add(asking('less long', `${'x '.repeat(1900)} needle`))
    expect(keys({ text: 'needle' })).toEqual(['less long'])
  })
})

describe('groups', () => {
  const sampleOf = (id: string, group: string, index: number, reward: number | null): Trajectory => ({
    ...asking(id, `question of ${group}`),
    group: { id: group, index },
    reward,
  })
  beforeEach(() => {
    store.add(asking('alone', 'q'))
    store.addAll([sampleOf('g0', 'g', 0, 0), sampleOf('g1', 'g', 1, 1), sampleOf('g2', 'g', 2, null)])
    store.addAll([sampleOf('h1', 'h', 1, 0.5), sampleOf('h0', 'h', 0, 0.5)])
    store.add(asking('last', 'q'))
  })
  const folded = (filter: ListFilter = {}, sort = newest, limit = 100) =>
    store.list({ filter, sort, limit, foldsGroups: true })

  test('are one row each: the first sample of the order with totals of all samples', () => {
    const { rows, total, groups } = folded()
    expect([rows.map(({ key }) => key), total]).toEqual([['last', 'h0', 'g2', 'alone'], 4])
    expect(groups).toEqual([
      {
        id: 'g',
        keys: ['g0', 'g1', 'g2'],
        matching: 3,
        running: 0,
        rewards: { known: 2, mean: 0.5, min: 0, max: 1 },
        isFlat: false,
      },
      {
        id: 'h',
        keys: ['h0', 'h1'],
        matching: 2,
        running: 0,
        rewards: { known: 2, mean: 0.5, min: 0.5, max: 0.5 },
        isFlat: true,
      },
    ])
    expect(folded({}, { by: 'reward', order: 'desc' }).rows.map(({ key }) => key)).toEqual([
      'g1',
      'h0',
      'last',
      'alone',
    ])
  })

  test('with some matching samples report how many match', () => {
    const { rows, total, groups } = folded({ text: 'reward<0.3' })
    expect([rows.map(({ key }) => key), total]).toEqual([['g0'], 1])
    expect(groups).toMatchObject([{ id: 'g', keys: ['g0', 'g1', 'g2'], matching: 1 }])
  })

  test('are flat only if every reward is known, for more than one sample that is not deleted', () => {
    store.label('g0', { reward: 1 })
    expect(folded().groups?.map(({ isFlat }) => isFlat)).toEqual([false, true])
    store.remove('g2')
    store.remove('h1')
    expect(folded().groups?.map(({ id, keys, isFlat }) => [id, keys.length, isFlat])).toEqual([
      ['g', 2, true],
      ['h', 1, false],
    ])
  })

  test('are one step of a walk through the list, from any of their samples', () => {
    for (const key of ['h0', 'h1'])
      expect(store.neighbours(key, { filter: {}, sort: newest, foldsGroups: true }), key).toEqual({
        ahead: 1,
        total: 4,
        isListed: true,
        previous: 'last',
        next: 'g2',
      })
    const filter = { text: 'reward<0.3' }
    expect(store.neighbours('h0', { filter, sort: newest, foldsGroups: true })).toMatchObject({ isListed: false })
  })

  test('are rows of pages like others, in both directions and every order', () => {
    for (const by of SORT_COLUMNS)
      for (const order of ['asc', 'desc'] as const) {
        const all = folded({}, { by, order }).rows.map(({ key }) => key)
        expect(all).toHaveLength(4)
        const first = folded({}, { by, order }, 3)
        const second = store.list({
          filter: {},
          sort: { by, order },
          limit: 3,
          foldsGroups: true,
          ...(first.next && { cursor: first.next }),
        })
        expect([...first.rows, ...second.rows].map(({ key }) => key)).toEqual(all)
        expect(second.start).toBe(3)
        const back = store.list({
          filter: {},
          sort: { by, order },
          limit: 3,
          foldsGroups: true,
          ...(second.previous && { cursor: second.previous }),
        })
        expect(back.rows).toEqual(first.rows)
      }
  })
})

describe('a trainer’s cut', () => {
  const ofMask = (id: string, mask: readonly number[]): Trajectory => ({
    ...asking(id, 'q'),
    vocab: { '1': 'one' },
    segments: [
      { kind: 'response', ids: mask.map(() => 1), mask: mask.map(Number) as (0 | 1)[], thinks: [], toolCalls: [] },
    ],
  })
  beforeEach(() => {
    store.add(ofMask('short', [1, 1]))
    store.add(ofMask('long', [0, 1, 1, 0, 1]))
    store.add(ofMask('context', [1, 1, 1, 0, 0]))
    for (const key of ['short', 'long'])
      store.putHealth(key, { sequence: key === 'short' ? 1 : 2, revision: 0 }, { findings: [], checks: [] })
  })
  const page = (overlong: TrainerCut['overlong'], filter: ListFilter = {}) =>
    store.list({ filter, sort: newest, limit: 10, cut: { tokens: 3, overlong } })

  test('is counted over the whole filtered list', () => {
    expect(page('cut').cut).toEqual({ samples: 3, longer: 2, losing: 1, lost: 1, trained: 8, unknown: 0 })
    expect(page('drop').cut).toEqual({ samples: 3, longer: 2, losing: 2, lost: 6, trained: 8, unknown: 0 })
    expect(page('cut', { text: 'tokens<3' }).cut).toMatchObject({ samples: 1, longer: 0, lost: 0 })
    expect(store.list({ filter: {}, sort: newest, limit: 10 }).cut).toBeUndefined()
  })

  test('is a finding of each checked row, and filters the list', () => {
    const labels = (overlong: TrainerCut['overlong']) =>
      page(overlong).rows.map(({ key, health }) => [key, health?.findings.map(({ label }) => label)])
    expect(labels('cut')).toEqual([
      ['context', undefined],
      ['long', ['1 trained token lost after position 3']],
      ['short', []],
    ])
    expect(labels('mask')[1]).toEqual(['long', ['masked by the trainer’s cut at 3']])
    expect(page('cut', { health: 'lost' }).rows.map(({ key }) => key)).toEqual(['long'])
    expect(page('mask', { health: 'lost' }).rows.map(({ key }) => key)).toEqual(['context', 'long'])
    expect(keys({ health: 'lost' })).toEqual([])
  })

  test('is unknown for records from before spans were stored until they are checked', () => {
    store.close()
    const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
    database.exec('UPDATE trajectories SET trained_spans = NULL')
    database.close()
    store = open()
    expect(page('cut').cut).toMatchObject({ losing: 0, unknown: 2 })
    expect(page('mask').cut).toMatchObject({ losing: 2, unknown: 0 })
  })
})

describe('filters', () => {
  test('select by outcome, tags and source, alone and combined, and the choices are listed', () => {
    const made = (id: string, change: Partial<Trajectory>) => store.add({ ...sample, id, ...change })
    made('ended', { outcome: { kind: 'ended', reason: 'end_turn' }, tags: ['x'] })
    made('failed', { outcome: { kind: 'failed', code: 'CONNECT_REFUSED', message: 'm' }, tags: ['x', 'y'] })
    made('slime', { provenance: { kind: 'import', format: 'slime', lacked: [] }, tags: ['y'] })
    made('strands', { provenance: { kind: 'import', format: 'strands-sglang', lacked: [] }, tags: ['s10', 's2'] })
    made('gone', { tags: ['only here'] })
    store.remove('gone')
    expect(keys({ outcome: 'ended' })).toEqual(['strands', 'slime', 'ended'])
    expect(keys({ outcome: 'end_turn' })).toEqual(['ended'])
    expect(keys({ outcome: 'CONNECT_REFUSED' })).toEqual(['failed'])
    expect(keys({ tags: ['x'] })).toEqual(['failed', 'ended'])
    expect(keys({ tags: ['x', 'y'] })).toEqual(['failed'])
    expect(keys({ tags: ["x' OR '1'='1"] })).toEqual([])
    expect(keys({ source: { kind: 'import' } })).toEqual(['strands', 'slime'])
    expect(keys({ source: { kind: 'import', format: 'slime' }, tags: ['y'], text: 'hi' })).toEqual(['slime'])
    expect(store.choices()).toEqual({
      total: 4,
      outcomes: [
        { kind: 'ended', outcome: 'length', count: 2 },
        { kind: 'ended', outcome: 'end_turn', count: 1 },
        { kind: 'failed', outcome: 'CONNECT_REFUSED', count: 1 },
      ],
      sources: [
        { kind: sample.provenance.kind, format: null, count: 2 },
        { kind: 'import', format: 'slime', count: 1 },
        { kind: 'import', format: 'strands-sglang', count: 1 },
      ],
      tags: [
        { tag: 'x', count: 2 },
        { tag: 'y', count: 2 },
        { tag: 's2', count: 1 },
        { tag: 's10', count: 1 },
      ],
    })
  })
})

describe('paging', () => {
  test('keeps the order of adding under a clock that jumps', () => {
    const jumps = [0, -HOUR, 10 * 365 * 24 * HOUR, -24 * HOUR, 0]
    for (const [n, jump] of jumps.entries()) {
      clock = BEGIN + jump
      store.add({ ...sample, id: `r${n}` })
    }
    expect(keys()).toEqual(['r4', 'r3', 'r2', 'r1', 'r0'])
    const { next } = store.list({ filter: {}, sort: newest, limit: 2 })
    const second = store.list({ filter: {}, sort: newest, limit: 2, ...(next && { cursor: next }) })
    expect(second.rows.map(({ key }) => key)).toEqual(['r2', 'r1'])
  })

  test('continues at its row while rows are added and deleted, in both directions', () => {
    for (let n = 0; n < 10; n++) store.add({ ...sample, id: `r${n}` })
    const page = (cursor?: ReturnType<typeof store.list>['next']) => {
      const { rows, ...rest } = store.list({ filter: {}, sort: newest, limit: 3, ...(cursor && { cursor }) })
      return { keys: rows.map(({ key }) => key), ...rest }
    }
    const first = page()
    expect(first).toMatchObject({ keys: ['r9', 'r8', 'r7'], total: 10, start: 0 })
    expect(first.previous).toBeUndefined()
    store.add({ ...sample, id: 'new' })
    store.remove('r7')
    const second = page(first.next)
    expect(second).toMatchObject({ keys: ['r6', 'r5', 'r4'], total: 10, start: 3 })
    const third = page(second.next)
    const last = page(third.next)
    expect([third.keys, last.keys, last.next]).toEqual([['r3', 'r2', 'r1'], ['r0'], undefined])
    expect(page(third.previous)).toMatchObject({ keys: second.keys, start: 3 })
    expect(page(second.previous)).toMatchObject({ keys: ['new', 'r9', 'r8'], start: 0 })
    store.remove('new')
    expect(page(second.previous).keys).toEqual(['r9', 'r8', 'r6'])
    for (const key of ['r0', 'r1', 'r2']) store.remove(key)
    expect(page(third.next)).toMatchObject({ keys: ['r5', 'r4', 'r3'], start: 3, total: 6 })
  })
})

describe('deleting', () => {
  test('hides a trajectory until it is restored', () => {
    const key = store.add(sample)
    expect(store.remove(key)).toBe('removed')
    expect([store.get(key), store.label(key, { title: 'x' }), store.remove(key), store.isDeleted(key)]).toEqual([
      undefined,
      undefined,
      'absent',
      true,
    ])
    expect(store.restore(key)).toMatchObject({ key, title: null })
    expect(store.get(key)).toEqual(sample)
    expect([store.restore('nothing'), store.remove('nothing'), store.isDeleted('nothing')]).toEqual([
      undefined,
      'absent',
      false,
    ])
  })

  test('refuses a running trajectory, but not a file that was exported during a run', () => {
    const running = { ...sample, outcome: { kind: 'running' } } as const
    const key = store.add(running, { runsHere: true })
    expect(store.remove(key)).toBe('running')
    store.update(key, { ...sample, outcome: { kind: 'ended', reason: 'cancelled' } }, 0)
    expect(store.remove(key)).toBe('removed')
    expect(store.remove(store.add({ ...running, id: 'file' }))).toBe('removed')
  })

  test('is final with the first start after a day', () => {
    const key = store.add(sample)
    store.remove(key)
    clock += 23 * HOUR
    reopen()
    expect(store.restore(key)).toMatchObject({ key })
    store.remove(key)
    clock += 25 * HOUR
    reopen()
    expect([store.restore(key), store.isDeleted(key)]).toEqual([undefined, false])
    expect(store.add(sample)).toBe(key)
    expect(store.get(key)).toEqual(sample)
  })

  test('is not final with a start whose clock is a year ahead', () => {
    const key = store.add(sample)
    store.remove(key)
    clock += 365 * 24 * HOUR
    reopen()
    clock -= 365 * 24 * HOUR
    reopen()
    expect(store.restore(key)).toMatchObject({ key })
    store.remove(key)
    clock += 365 * 24 * HOUR
    reopen()
    // What is added later shows that the clock is right.
    store.add({ ...sample, id: 'later' })
    reopen()
    expect(store.restore(key)).toBeUndefined()
  })

  test('keeps the key reserved, and opening the same file again restores it', () => {
    const key = store.add(sample)
    store.remove(key)
    expect(store.add({ ...sample, note: 'another' })).toBe(`${key}~2`)
    expect([store.isDeleted(key), store.add(sample), store.isDeleted(key)]).toEqual([true, key, false])
  })
})

/** A simple model of the store. */
interface Entry {
  readonly key: string
  readonly sequence: number
  readonly trajectory: Trajectory
  readonly isDeleted: boolean
}

const fold = (text: string) => text.normalize('NFKC').toLowerCase()
const fileOf = ({ provenance }: Trajectory): string => (provenance.kind === 'import' && provenance.file) || ''
const questionOf = ({ segments }: Trajectory): string => {
  const [first] = segments
  const content = first?.kind === 'prompt' ? first.messages.find(({ role }) => role === 'user')?.content : ''
  return typeof content === 'string' ? content : ''
}
const sortValue = ({ trajectory, sequence }: Entry, by: ListSort['by']): string | number | null => {
  const { tokens, trained, meanLogprob } = statistics(trajectory)
  const named = [trajectory.title ?? '', questionOf(trajectory), fileOf(trajectory)]
  const title = named.map((text) => fold(text).trim()).find((text) => text !== '')
  return { added: sequence, tokens, trained, meanLogprob, reward: trajectory.reward ?? null, title: title ?? null }[by]
}
const compare = (a: string | number, b: string | number): number =>
  typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : a - Number(b)

function expectedKeys(
  entries: readonly Entry[],
  { text = '', tags = [], outcome }: ListFilter,
  sort: ListSort,
): string[] {
  const words = fold(text).split(/\s+/)
  return entries
    .filter(({ isDeleted }) => !isDeleted)
    .filter(({ trajectory }) => {
      const { title, tags: own = [], note, model } = trajectory
      const word = trajectory.outcome.kind === 'ended' ? trajectory.outcome.reason : trajectory.outcome.kind
      const said = fold([title, ...own, note].join('\n'))
      const recorded = fold([questionOf(trajectory), model.name, word, fileOf(trajectory)].join('\n'))
      return (
        words.every((one) => said.includes(one) || recorded.includes(one)) &&
        tags.every((one) => own.includes(one)) &&
        (outcome === undefined || outcome === trajectory.outcome.kind || outcome === word)
      )
    })
    .sort((a, b) => {
      const [x, y] = [sortValue(a, sort.by), sortValue(b, sort.by)]
      const newestFirst = b.sequence - a.sequence
      if (x === null || y === null) return Number(x === null) - Number(y === null) || newestFirst
      return (sort.order === 'asc' ? compare(x, y) : compare(y, x)) || newestFirst
    })
    .map(({ key }) => key)
}

const word = fc.constantFrom('alpha', 'Beta', '%', '_', "'", '"', 'é', 'É', '\u{1F600}', '\uFF21', 'a b', '')
const tags = fc.uniqueArray(fc.constantFrom('x', 'y', "it's", '%'), { maxLength: 3 })
const reward = fc.constantFrom(0, 1, -1.5, 1e300, 0.1)
const labels = fc.record({ title: word, tags, note: word, reward }, { requiredKeys: [] })
const change: fc.Arbitrary<LabelChange> = fc.record(
  { title: fc.option(word), tags: fc.option(tags), note: fc.option(word), reward: fc.option(reward) },
  { requiredKeys: [] },
)
const pick = fc.nat({ max: 30 })
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      question: word,
      file: fc.option(word),
      turns: fc.nat({ max: 2 }),
      labels,
    }),
  },
  fc.record({ do: fc.constant('grow' as const), pick, ends: fc.boolean() }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('label' as const), pick, change }) },
  fc.record({ do: fc.constant('remove' as const), pick }),
  fc.record({ do: fc.constant('restore' as const), pick }),
)
const query = fc.record({
  filter: fc.record(
    {
      text: word,
      tags: fc.constantFrom([], ['x'], ["it's", '%']),
      outcome: fc.constantFrom('ended', 'length', 'running'),
    },
    { requiredKeys: [] },
  ),
  sort: fc.record({ by: fc.constantFrom(...SORT_COLUMNS), order: fc.constantFrom('asc' as const, 'desc' as const) }),
  limit: fc.integer({ min: 1, max: 7 }),
})

test('any sequence of operations gives the lists of a simple model, page by page, in both directions', () => {
  fc.assert(
    fc.property(
      fc.array(operation, { minLength: 1, maxLength: 25 }),
      fc.array(query, { minLength: 3, maxLength: 6 }),
      (operations, queries) => {
        const inner = mkdtempSync(path.join(folder, 'p-'))
        const tried = open(inner)
        try {
          const entries: Entry[] = []
          for (const [index, step] of operations.entries()) {
            if (step.do === 'add') {
              const base = simulateRollout(
                chatml,
                [turn(step.question), turn('more'), turn('still')].slice(0, step.turns + 1),
              )
              const trajectory: Trajectory = {
                ...base.trajectory,
                ...step.labels,
                id: `t${index}`,
                ...(step.file !== null && {
                  provenance: { kind: 'import', format: 'slime', file: step.file, lacked: [] },
                }),
                outcome: step.turns === 2 ? { kind: 'ended', reason: 'length' } : base.trajectory.outcome,
              }
              const key = tried.add(trajectory)
              entries.push({ key, sequence: entries.length + 1, trajectory, isDeleted: false })
              continue
            }
            const at = entries.length === 0 ? -1 : step.pick % entries.length
            const entry = entries[at]
            if (!entry) continue
            const { key, trajectory, isDeleted } = entry
            if (step.do === 'remove') {
              const isRunning = trajectory.outcome.kind === 'running'
              expect(tried.remove(key)).toBe(isDeleted ? 'absent' : isRunning ? 'running' : 'removed')
              entries[at] = { ...entry, isDeleted: isDeleted || !isRunning }
            } else if (step.do === 'restore') {
              expect(tried.restore(key)?.key).toBe(key)
              entries[at] = { ...entry, isDeleted: false }
            } else if (step.do === 'label') {
              expect(tried.label(key, step.change) === undefined).toBe(isDeleted)
              if (!isDeleted)
                entries[at] = {
                  ...entry,
                  trajectory: withLabels(trajectory, changedLabels(labelsOf(trajectory), step.change)),
                }
            } else {
              const last = trajectory.segments.at(-1)
              const grown: Trajectory = {
                ...trajectory,
                segments: last ? [...trajectory.segments, last] : [],
                outcome: step.ends ? { kind: 'ended', reason: 'end_turn' } : { kind: 'running' },
              }
              // The run's own copy has none of the labels that were set since it began.
              tried.update(key, withLabels(grown, { title: 'stale' }), trajectory.segments.length)
              entries[at] = { ...entry, trajectory: grown }
            }
          }
          for (const { key, trajectory, isDeleted } of entries)
            expect(tried.get(key)).toEqual(isDeleted ? undefined : trajectory)
          for (const asked of queries) {
            const expected = expectedKeys(entries, asked.filter, asked.sort)
            const forward: string[] = []
            const pages: string[][] = []
            let page = tried.list(asked)
            for (;;) {
              expect([page.total, page.start]).toEqual([expected.length, forward.length])
              pages.push(page.rows.map(({ key }) => key))
              forward.push(...(pages.at(-1) as string[]))
              if (!page.next) break
              page = tried.list({ ...asked, cursor: page.next })
            }
            expect(forward).toEqual(expected)
            for (const back of pages.slice(0, -1).reverse()) {
              page = tried.list({ ...asked, cursor: page.previous as NonNullable<typeof page.previous> })
              expect(page.rows.map(({ key }) => key)).toEqual(back)
            }
            expect(page.previous).toBeUndefined()
          }
        } finally {
          tried.close()
          rmSync(inner, { recursive: true, force: true })
        }
      },
    ),
    { numRuns: runs(30) },
  )
})
