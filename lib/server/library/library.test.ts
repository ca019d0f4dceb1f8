/** Tests lists, labels and deletion with a real store. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { estimateGroupId } from '#lib/store/estimates.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { MAX_TOKEN_NOTES } from '#lib/trajectory/format/token-notes.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { problemOf } from '#testing/http-problem.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Services } from '../services.ts'
import { addNote, changeNote, labelChangeSchema, labelTrajectory, noteChangeSchema, noteSchema } from './labels.ts'
import { listPage, removeTrajectory, restoreTrajectory, trajectoryNeighbours } from './library.ts'

let folder: string
let store: TrajectoryStore
let all: Services
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
  all = { store } as unknown as Services
  for (const [id, reward] of [
    ['a', 1],
    ['b', null],
    ['c', -1],
  ] as const)
    store.add({ ...sample, id, reward })
})
afterEach(() => store.close())

const list = (query: string) => listPage(new Request(`http://h/api/trajectories?${query}`), all)
const keys = (query: string) => list(query).trajectories.map(({ key }) => key)
const beside = (key: string, query: string) =>
  trajectoryNeighbours(key, new Request(`http://h/api/trajectories/${key}/neighbours?${query}`), all)

test('The library returns the neighbours of a trajectory in the list of the same query', () => {
  expect(beside('b', '')).toEqual({ ahead: 1, total: 3, isListed: true, previous: 'c', next: 'a' })
  expect(beside('a', '')).toEqual({ ahead: 2, total: 3, isListed: true, previous: 'b' })
  // Unknown rewards sort last.
  expect(beside('c', 'sort=reward')).toEqual({ ahead: 1, total: 3, isListed: true, previous: 'a', next: 'b' })
  expect(beside('b', 'sort=reward&order=asc')).toEqual({ ahead: 2, total: 3, isListed: true, previous: 'a' })
  store.label('b', { tags: ['x'] })
  expect(beside('c', 'tag=x')).toEqual({ ahead: 0, total: 1, isListed: false, next: 'b' })
  expect(problemOf(() => beside('none', ''))).toMatchObject({ status: 404 })
  store.remove('b')
  expect(problemOf(() => beside('b', ''))).toMatchObject({ code: 'DELETED' })
})

describe('The list of the library', () => {
  test('reads its filter, order and length from the query', () => {
    expect(keys('')).toEqual(['c', 'b', 'a'])
    expect(keys('sort=added&order=asc&limit=2')).toEqual(['a', 'b'])
    expect(keys('sort=reward')).toEqual(['a', 'c', 'b'])
    expect(keys('sort=reward&order=asc&q=hi&outcome=ended&source=rollout')).toEqual(['c', 'a', 'b'])
    expect(keys('source=import:a:b')).toEqual([])
    expect(keys('tag=x&tag=y')).toEqual([])
  })

  test('counts the tokens that a trainer’s cut would lose, if the query has one', () => {
    expect(list('').cut).toBeUndefined()
    expect(list('cut=8').cut).toMatchObject({ samples: 3, longer: 3, losing: 3, lost: 3 })
    expect(list('cut=8&overlong=drop&health=lost&q=reward:1').cut).toMatchObject({ samples: 1, losing: 1, lost: 6 })
    for (const cut of ['0', 'x', '1.5']) expect(problemOf(() => list(`cut=${cut}`))).toMatchObject({ status: 400 })
    expect(problemOf(() => list('cut=8&overlong=keep'))).toMatchObject({ status: 400 })
  })

  test('folds groups if the query requests it', () => {
    for (const index of [0, 1]) store.add({ ...sample, id: `g${index}`, reward: 1, group: { id: 'g', index } })
    expect(list('').groups).toBeUndefined()
    const { trajectories, groups, total } = list('groups=folded&q=reward:1')
    expect([trajectories.map(({ key }) => key), total]).toEqual([['g1', 'a'], 2])
    expect(groups).toMatchObject([{ id: 'g', keys: ['g0', 'g1'], isFlat: true }])
    expect(problemOf(() => list('groups=maybe'))).toMatchObject({ status: 400 })
  })

  test('leaves out the samples of value estimates if the query requests it, and counts those that match', () => {
    store.addEstimate({ id: 'e', key: 'a', createdAt: '2026-01-01T00:00:00.000Z', plan: '{}' })
    for (const [index, group] of [estimateGroupId('e', 0), estimateGroupId('e', 12), 'g'].entries())
      store.add({ ...sample, id: `s${index}`, reward: index, group: { id: group, index: 0 } })
    const { hidden, trajectories, total } = list('estimates=hidden')
    expect([hidden, trajectories.map(({ key }) => key), total]).toEqual([2, ['s2', 'c', 'b', 'a'], 4])
    expect(list('estimates=hidden&q=reward:1&groups=folded')).toMatchObject({ hidden: 1, total: 1 })
    expect(list('').hidden).toBe(undefined)
    expect(list('').total).toBe(6)
    expect(beside('s2', 'estimates=hidden')).toMatchObject({ next: 'c', total: 4 })
    expect(problemOf(() => list('estimates=some'))).toMatchObject({ status: 400 })
  })

  test('continues at a cursor, which is valid only for its order', () => {
    const first = list('sort=reward&limit=2')
    const second = list(`sort=reward&limit=2&cursor=${first.next}`)
    expect([second.trajectories.map(({ key }) => key), second.start, second.total]).toEqual([['b'], 2, 3])
    expect(list(`sort=reward&limit=2&cursor=${second.previous}`).trajectories).toEqual(first.trajectories)
    expect(problemOf(() => list(`sort=tokens&cursor=${first.next}`))).toMatchObject({
      status: 400,
      code: 'BAD_CURSOR',
      detail: '"cursor" belongs to a list sorted by reward desc, not by tokens desc',
    })
  })

  test.each(['x', '', '%00', 'WzFd', Buffer.from('["added","desc","after",{},1]').toString('base64url')])(
    'refuses the cursor %j',
    (cursor) => {
      expect(problemOf(() => list(`cursor=${cursor}`))).toMatchObject({ status: 400, code: 'BAD_CURSOR' })
    },
  )

  test.each([
    [
      'sort=sequence;drop',
      '"sort" must be one of added, title, tokens, trained, meanLogprob, reward, not "sequence;drop"',
    ],
    ['order=up', '"order" must be one of asc, desc, not "up"'],
    ['limit=-1', '"limit" must be a whole number, not "-1"'],
    [`q=${'x'.repeat(501)}`, '"q" is longer than 500 characters'],
    ['tag=x&'.repeat(1100), '"tag" is there 1100 times, and at most 200 are allowed'],
  ])('refuses the query %.30s', (query, detail) => {
    expect(problemOf(() => list(query))).toMatchObject({ status: 400, code: 'BAD_QUERY', detail })
  })
})

describe('A change of labels', () => {
  test('changes each label separately', () => {
    expect(labelTrajectory('a', { title: 'T', tags: ['x'], reward: null }, all)).toMatchObject({
      title: 'T',
      tags: ['x'],
      reward: null,
    })
    expect(labelTrajectory('a', { title: null }, all)).toMatchObject({ title: null, tags: ['x'] })
    expect(problemOf(() => labelTrajectory('z', {}, all))).toMatchObject({ status: 404, code: 'NO_TRAJECTORY' })
  })

  test('adds and removes tags beside those of other clients, up to 200', () => {
    labelTrajectory('a', { tags: ['old'] }, all)
    labelTrajectory('a', { addTags: ['mine'] }, all)
    expect(labelTrajectory('a', { addTags: ['theirs'], removeTags: ['old'] }, all).tags).toEqual(['mine', 'theirs'])
    const many = Array.from({ length: 199 }, (_, n) => `t${n}`)
    expect(problemOf(() => labelTrajectory('a', { addTags: many }, all))).toMatchObject({
      status: 409,
      code: 'TOO_MANY_TAGS',
    })
    expect(store.row('a')?.tags).toEqual(['mine', 'theirs'])
  })

  test('replaces the notes on tokens, and refuses those on tokens that the trajectory does not have', () => {
    const notes = [{ id: '1', start: 3, end: 12, text: 'all of it' }]
    labelTrajectory('a', { notes }, all)
    expect(store.get('a')).toMatchObject({ notes })
    const beyond = [{ id: '1', start: 3, end: 13, text: 'too far' }]
    expect(problemOf(() => labelTrajectory('a', { notes: beyond }, all))).toMatchObject({
      status: 422,
      code: 'BAD_REQUEST',
      detail: 'notes[0]: expected 0 ≤ start < end ≤ 12, found start 3, end 13',
      hint: expect.stringContaining('12 tokens'),
      field: 'notes[0]',
    })
    expect(problemOf(() => labelTrajectory('z', { notes }, all))).toMatchObject({ status: 404, code: 'NO_TRAJECTORY' })
    expect(store.get('a')).toMatchObject({ notes })
    labelTrajectory('a', { notes: null }, all)
    expect(store.get('a')).not.toHaveProperty('notes')
  })

  test.each([
    { title: 'a\0b' },
    { tags: ['a\0b'] },
    { note: ' \n' },
    { note: 'a\0b' },
    { notes: [{ id: '1', start: 0, end: 1, text: ' ' }] },
    { notes: [{ id: '1', start: 0, end: 1, text: 'a\0b' }] },
    { title: '' },
    { title: ' padded' },
    { title: 'two\nlines' },
    { title: 'x'.repeat(501) },
    { tags: 'x' },
    { tags: ['x', 'x'] },
    { tags: [''] },
    { addTags: null },
    { addTags: ['x', 'x'] },
    { removeTags: 'x' },
    { tags: ['x'.repeat(501)] },
    { tags: Array.from({ length: 201 }, (_, n) => `t${n}`) },
    { note: '' },
    { notes: [{ id: '1', start: 0, end: 1 }] },
    { notes: [{ id: '1', start: -1, end: 1, text: 'x' }] },
    { notes: [{ id: '1', start: 0, end: 1, text: 'x'.repeat(2001) }] },
    { reward: '1' },
    { reward: Number.POSITIVE_INFINITY },
    { outcome: null },
    [],
  ])('is refused if it is %j', (change) => {
    expect(labelChangeSchema.safeParse(change).success).toBe(false)
  })
})

describe('A change of one note on tokens', () => {
  const write = (start: number, end: number, text: string) => addNote('a', { start, end, text }, all).notes

  test('keeps the notes that another client has written since the list was read', () => {
    // Both clients have read the trajectory without notes.
    expect(write(3, 5, 'first client')).toEqual([{ id: '1', start: 3, end: 5, text: 'first client' }])
    const both = write(0, 2, 'second client')
    expect(both).toEqual([
      { id: '2', start: 0, end: 2, text: 'second client' },
      { id: '1', start: 3, end: 5, text: 'first client' },
    ])
    expect(store.get('a')).toMatchObject({ notes: both })
    const { notes } = changeNote('a', '1', { text: 'changed', before: 'first client' }, all)
    expect(notes.map(({ text }) => text)).toEqual(['second client', 'changed'])
    expect(changeNote('a', '2', { text: null, before: 'second client' }, all).notes).toEqual([notes[1]])
    expect(changeNote('a', '1', { text: null }, all).notes).toEqual([])
    expect(store.get('a')).not.toHaveProperty('notes')
  })

  test('is refused if another client has changed or deleted the note, or deleted the trajectory', () => {
    write(3, 5, 'old')
    changeNote('a', '1', { text: 'new' }, all)
    for (const text of ['mine', null])
      expect(problemOf(() => changeNote('a', '1', { text, before: 'old' }, all))).toMatchObject({
        status: 409,
        code: 'NOTE_CHANGED',
        detail: 'another client has changed the note "1": its text is now "new"',
      })
    expect(store.get('a')).toMatchObject({ notes: [{ text: 'new' }] })
    expect(problemOf(() => changeNote('a', '9', { text: 'x' }, all))).toMatchObject({ status: 404, code: 'NO_NOTE' })
    removeTrajectory('a', all)
    expect(problemOf(() => changeNote('a', '1', { text: 'x' }, all))).toMatchObject({ status: 404, code: 'DELETED' })
    expect(problemOf(() => write(0, 1, 'x'))).toMatchObject({ status: 404, code: 'DELETED' })
  })

  test('is refused beyond the tokens of the trajectory and beyond the number of notes', () => {
    expect(problemOf(() => write(3, 13, 'too far'))).toMatchObject({
      status: 422,
      detail: 'expected 0 ≤ start < end ≤ 12, found start 3, end 13',
      hint: expect.stringContaining('12 tokens'),
    })
    const most = Array.from({ length: MAX_TOKEN_NOTES }, (_, index) => ({
      id: `${index}`,
      start: 0,
      end: 1,
      text: 'x',
    }))
    labelTrajectory('a', { notes: most }, all)
    expect(problemOf(() => write(0, 1, 'one more'))).toMatchObject({ status: 409, code: 'TOO_MANY_NOTES' })
    expect(store.labels('a')?.notes).toEqual(most)
  })

  test.each([' \n', 'a\0b', '', 'x'.repeat(2001)])('is refused with the text %j', (text) => {
    expect(noteSchema.safeParse({ start: 0, end: 1, text }).success).toBe(false)
    expect(noteChangeSchema.safeParse({ text }).success).toBe(false)
  })
})

describe('Deletion of a trajectory', () => {
  test('can be undone, and reports a trajectory that does not exist', () => {
    removeTrajectory('a', all)
    expect(keys('')).toEqual(['c', 'b'])
    expect(problemOf(() => removeTrajectory('a', all))).toMatchObject({ status: 404, code: 'DELETED' })
    expect(problemOf(() => labelTrajectory('a', {}, all))).toMatchObject({ code: 'DELETED' })
    expect(restoreTrajectory('a', all)).toMatchObject({ key: 'a' })
    expect(restoreTrajectory('a', all)).toMatchObject({ key: 'a' })
    expect(problemOf(() => restoreTrajectory('z', all))).toMatchObject({ status: 404, code: 'NO_TRAJECTORY' })
  })

  test('is refused while a rollout writes the trajectory', () => {
    store.add({ ...sample, id: 'r', outcome: { kind: 'running' } }, { runsHere: true })
    expect(problemOf(() => removeTrajectory('r', all))).toMatchObject({
      status: 409,
      code: 'RUNNING',
      hint: 'Stop the rollout, or wait until it has ended, then delete the trajectory.',
    })
  })
})
