import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { elementAt } from '#lib/util/element-at.ts'
import { decisiveSpot, splitAfter, splitsByDifference } from './steps.ts'
import { exampleGroup, groupOf, wordTrajectory } from './test-group.ts'
import { foldedToSplits, modeOf, modesText, NO_MODES, readModes, withMode, withVisible } from './tree/folds.ts'
import {
  branchName,
  decisiveBranches,
  pathOfSample,
  siblingsOf,
  splitsOfTree,
  spotOfSample,
  type TreeSpot,
  treeOfForest,
} from './tree.ts'

const tree = treeOfForest(exampleGroup().forest)
const named = (spot: TreeSpot | undefined) => spot && [branchName(elementAt(tree.branches, spot.branch)), spot.token]

describe('The tree of a group', () => {
  test('joins nodes without a split, and has the branches with most samples first', () => {
    expect(
      tree.branches.map((branch) => [branchName(branch), branch.end, branch.samples.length, branch.level]),
    ).toEqual([
      ['1-0', 5, 8, 0],
      ['1-5', 6, 5, 1],
      ['1-6', 7, 3, 2],
      ['2-7', 9, 2, 3],
      ['1-7', 10, 1, 3],
      ['4-6', 7, 2, 2],
      ['4-7', 9, 1, 3],
      ['6-7', 9, 1, 3],
      ['3-5', 6, 3, 1],
      ['3-6', 9, 1, 2],
      ['7-6', 9, 1, 2],
      ['8-6', 8, 1, 2],
    ])
  })

  test('has a branch without tokens for samples that end where others continue', () => {
    const { branches } = treeOfForest(
      groupOf([wordTrajectory('a', 'how', 'I|list'), wordTrajectory('b', 'how', 'I')], [1, 0]).forest,
    )
    expect(branches.map(({ start, end, samples, reward }) => [start, end, samples, reward?.mean])).toEqual([
      [0, 2, [0, 1], 0.5],
      [2, 2, [1], 0],
      [2, 3, [0], 1],
    ])
  })

  test('contains every token of every sample once on its path, for any samples', () => {
    const word = fc.constantFrom('I', 'list', 'find', 'ls')
    const response = fc.array(word, { maxLength: 5 }).map((words) => words.join('|'))
    const prompt = fc.constantFrom('how', 'how|many', 'many')
    fc.assert(
      fc.property(fc.array(fc.tuple(prompt, response), { minLength: 1, maxLength: 8 }), (texts) => {
        const group = groupOf(
          texts.map(([prompt, response], index) => wordTrajectory(String(index), prompt, response)),
          texts.map(() => null),
        )
        const tree = treeOfForest(group.forest)
        for (const [index, { row }] of group.forest.samples.entries()) {
          const path = pathOfSample(tree, index)
          let end = 0
          for (const branch of path) {
            expect(branch.start).toBe(end)
            expect(branch.samples).toContain(index)
            end = branch.end
          }
          expect(end).toBe(row.tokens)
          for (let token = 0; token < row.tokens; token++) {
            const spot = spotOfSample(tree, index, token)
            expect(spot && path.map(({ index }) => index)).toContain(spot?.branch)
          }
          expect(spotOfSample(tree, index, row.tokens)).toBeUndefined()
        }
        for (const { branches } of splitsOfTree(tree)) expect(branches.length).toBeGreaterThan(1)
        expect(splitsOfTree(tree).length).toBe(group.forest.splits.length)
      }),
    )
  })

  test('finds the branches of the decisive token, and those beside a branch', () => {
    const [high, low] = decisiveBranches(tree) ?? []
    expect([high && branchName(high), low && branchName(low)]).toEqual(['1-5', '3-5'])
    expect(high && siblingsOf(tree, high).map(branchName)).toEqual(['1-5', '3-5'])
    expect(named(decisiveSpot(tree))).toEqual(['1-5', 5])
  })
})

describe('The keys of the group page', () => {
  test('walk from split to split in the order of the tree, in both directions', () => {
    const walk = (step: 1 | -1) => {
      const found: ReturnType<typeof named>[] = []
      for (let at = splitAfter(tree, undefined, step); at && found.length < 9; at = splitAfter(tree, at, step))
        found.push(named(at))
      return found
    }
    const forward = [
      ['1-5', 5],
      ['1-6', 6],
      ['2-7', 7],
      ['4-7', 7],
      ['3-6', 6],
    ]
    expect(walk(1)).toEqual(forward)
    expect(walk(-1)).toEqual(forward.toReversed())
  })

  test('go to the own split first from inside a branch', () => {
    const inside = spotOfSample(tree, 0, 8)
    expect(named(splitAfter(tree, inside, -1))).toEqual(['2-7', 7])
  })

  test('walk the splits by the difference in mean reward', () => {
    expect(splitsByDifference(tree).map(named)).toEqual([
      ['1-5', 5],
      ['1-6', 6],
    ])
  })
})

describe('Folds of branches', () => {
  const at = (name: string) => {
    const found = tree.branches.find((branch) => branchName(branch) === name)
    if (!found) throw new Error(`no branch ${name}`)
    return found
  }

  test('are default for a branch whose mean reward is below that of the group and of a sibling', () => {
    const folded = tree.branches.filter((branch) => modeOf(tree, branch, NO_MODES) === 'folded')
    expect(folded.map(branchName)).toEqual(['6-7', '3-5', '3-6', '8-6'])
  })

  test('of an address are read back, and branches with their default are not stored', () => {
    const modes = withMode(tree, withMode(tree, NO_MODES, at('1-5'), 'folded'), at('3-5'), 'whole')
    expect(modesText(modes)).toBe('1-5f.3-5w')
    expect(readModes('1-5f.3-5w')).toEqual(modes)
    expect(readModes('1-5f.x.9.-1f.3-5q')).toEqual(new Map([['1-5', 'folded']]))
    expect(modesText(withMode(tree, NO_MODES, at('3-5'), 'folded'))).toBeUndefined()
  })

  test('open all branches before one that must be visible', () => {
    const modes = withVisible(tree, NO_MODES, at('3-6').index)
    expect([...modes]).toEqual([['3-5', 'short']])
  })

  test('to splits fold every branch that ends, and open the others', () => {
    const modes = foldedToSplits(tree)
    const folded = tree.branches.filter((branch) => modeOf(tree, branch, modes) === 'folded')
    expect(folded.every(({ children }) => children.length === 0)).toBe(true)
    expect(folded.length).toBe(tree.branches.filter(({ children }) => children.length === 0).length)
  })
})
