import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { encode } from './codec.ts'
import { changedLabels, labelsOf, withLabels } from './labels.ts'

const notes = [{ id: '1', start: 0, end: 2, text: 'here' }]
const labels = { title: 'a', tags: ['x', 'y'], note: 'n', notes, reward: 0 }

test('labelsOf and withLabels restore the same file', () => {
  const labelled = { ...sample, ...labels }
  expect(labelsOf(labelled)).toEqual(labels)
  expect(encode(withLabels(withLabels(labelled, {}), labels))).toBe(encode(labelled))
  expect(Object.keys(withLabels(labelled, { note: 'only' }))).toEqual([...Object.keys(withLabels(sample, {})), 'note'])
})

test('labelsOf keeps a reward of null that a file contained', () => {
  expect(labelsOf({ ...sample, reward: null, title: undefined })).toEqual({ reward: null })
  expect(changedLabels({ reward: null }, { title: 'b' })).toEqual({ title: 'b', reward: null })
})

test('changedLabels sets the named labels, removes null ones and keeps all others', () => {
  expect(changedLabels(labels, {})).toEqual(labels)
  expect(changedLabels(labels, { title: 'b', note: null, reward: null })).toEqual({
    title: 'b',
    tags: ['x', 'y'],
    notes,
  })
  expect(changedLabels(labels, { notes: null })).not.toHaveProperty('notes')
  expect(changedLabels({}, { reward: -1.5, tags: ['z'] })).toEqual({ tags: ['z'], reward: -1.5 })
})

test('changedLabels adds and removes tags beside all others', () => {
  expect(changedLabels(labels, { addTags: ['z', 'x'], removeTags: ['y', 'none'] })).toEqual({
    ...labels,
    tags: ['x', 'z'],
  })
  expect(changedLabels({ title: 'a' }, { addTags: ['x'] })).toEqual({ title: 'a', tags: ['x'] })
  expect(changedLabels({ title: 'a' }, { removeTags: ['x'] })).toEqual({ title: 'a' })
  expect(changedLabels(labels, { removeTags: ['x', 'y'] })).not.toHaveProperty('tags')
  expect(changedLabels(labels, { tags: ['only'], addTags: ['z'] }).tags).toEqual(['only', 'z'])
})
