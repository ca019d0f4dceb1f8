import { expect, test } from 'vitest'
import { compareNames, whySkipped } from './file-names.ts'

test('Paths are sorted by their names, with numbers as numbers', () => {
  const names = ['b/rollout_10.json', 'b/rollout_9.json', 'a.json', 'b/rollout_09.json']
  expect(names.toSorted(compareNames)).toEqual(['a.json', 'b/rollout_09.json', 'b/rollout_9.json', 'b/rollout_10.json'])
})

test.each(['.DS_Store', '.git', '__MACOSX', 'Thumbs.db', 'desktop.ini'])(
  'The file %s is passed over with a reason',
  (name) => {
    expect(whySkipped(name)).toBeDefined()
  },
)

test.each(['rollout_0.json', 'a', 'DS_Store', 'a.b'])('The file %s is opened', (name) => {
  expect(whySkipped(name)).toBeUndefined()
})
