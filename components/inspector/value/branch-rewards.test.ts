import { expect, test } from 'vitest'
import type { Tree } from '#lib/api/forest/tree.ts'
import { branchRewards } from './branch-rewards.ts'

type Leaf = Tree['leaves'][number]

const leaf = (key: string, reward: number | null, fork: Partial<NonNullable<Leaf['fork']>> | null): Leaf =>
  ({
    row: { key, reward },
    isValueSample: false,
    fork: fork && { from: 0, token: 7, kind: 'forced', inserted: null, edited: null, sampled: null, ...fork },
  }) as Leaf
const find = { text: 'find', instead: 'ls' }

test('branchRewards has one mean for branches that insert the same text at a token, in the order of the tokens', () => {
  const leaves = [
    leaf('main', 0, null),
    leaf('a', 1, { inserted: find }),
    leaf('b', 0.5, { inserted: find }),
    leaf('running', null, { inserted: find }),
    leaf('early', 0, { token: 3, inserted: { text: 'cd', instead: null } }),
    leaf('sampled', 1, {}),
    leaf('twig', 1, { from: 1, inserted: find }),
  ]
  expect(branchRewards({ leaves }, 'main')).toEqual([
    { token: 3, text: 'cd', instead: null, mean: 0, samples: 1, key: 'early' },
    { token: 7, ...find, mean: 0.75, samples: 2, key: 'a' },
  ])
  expect(branchRewards({ leaves }, 'a')).toMatchObject([{ key: 'twig', samples: 1 }])
  expect(branchRewards({ leaves }, 'absent')).toEqual([])
})
