import { describe, expect, test } from 'vitest'
import { elementAt } from '#lib/util/element-at.ts'
import { exampleGroup, groupOf, wordTrajectory } from './test-group.ts'
import { foldedBranchText, hiddenTokensText } from './tree/fold-texts.ts'
import { treeOfForest } from './tree.ts'
import {
  branchChips,
  branchPositionText,
  estimateInterval,
  firstTokenText,
  groupSizeText,
  signedText,
} from './words.ts'

const { forest, trajectories } = exampleGroup()
const tree = treeOfForest(forest)
const branchAt = (index: number) => elementAt(tree.branches, index)
const chips = (index: number) => branchChips(tree, branchAt(index)).map(({ text }) => text)

describe('The texts of a branch', () => {
  test('name equal rewards, identical ends, truncated samples and ends at a split', () => {
    expect(chips(2)).toEqual(['all 1.00'])
    expect(chips(3)).toEqual(['all 1.00', 'identical to the end'])
    expect(chips(9)).toEqual([])
    const cut = wordTrajectory('a', 'how', 'I')
    const group = groupOf(
      [{ ...cut, outcome: { kind: 'ended', reason: 'length' } }, wordTrajectory('b', 'how', 'I|list')],
      [0, 1],
    )
    const other = treeOfForest(group.forest)
    expect(other.branches.map((branch) => branchChips(other, branch).map(({ text }) => text))).toEqual([
      ['1 truncated'],
      ['ends here', 'truncated'],
      [],
    ])
  })

  test('say of a folded branch how many samples and branches it has, and how long they are', () => {
    expect(foldedBranchText(tree, branchAt(8))).toBe('3 samples, 3 branches folded · 3 to 4 tokens each · end_turn')
    expect(foldedBranchText(tree, branchAt(4))).toBe('1 sample · 3 tokens · end_turn')
    const calls = groupOf([wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'how', 'list')], [0, 1])
    const rows = calls.forest.samples.map((sample, index) => ({
      ...sample,
      row: { ...sample.row, toolCalls: 2 * index + 1, failedCalls: index },
    }))
    const other = treeOfForest({ ...calls.forest, samples: rows })
    expect(foldedBranchText(other, elementAt(other.branches, 0))).toContain('1 to 3 calls, 1 failed')
  })

  test('say of hidden tokens in which segments they are, and in how many samples', () => {
    const [first] = trajectories
    expect(hiddenTokensText(branchAt(0), { start: 1, end: 5 }, first)).toBe(
      '4 more tokens · prompt and response · the same in 8 samples',
    )
    expect(hiddenTokensText(branchAt(4), { start: 7, end: 8 }, undefined)).toBe('1 more token')
  })
})

test('values have signs and intervals have short ends', () => {
  expect([0.976, -1.21, 0, null, -0.0004].map(signedText)).toEqual(['+0.98', '−1.21', '0.00', '—', '−0.0004'])
  const { reward } = branchAt(1)
  expect(reward && estimateInterval(reward)).toMatch(/^\[0\.\d+–1\]$/)
  expect(estimateInterval({ known: 1, mean: 1, interval: { low: 0, high: 1 }, method: 'hoeffding' })).toBe('')
})

test('the status line says how large the group is and where the pinned token is', () => {
  expect(groupSizeText(forest)).toBe(
    `8 samples · ${forest.counts.tokens} tokens, ${forest.counts.distinctTokens} distinct`,
  )
  expect(branchPositionText(tree, branchAt(8), 5)).toBe('split 1 of 5 · token 5')
  expect(branchPositionText(tree, branchAt(0), 2)).toBe('token 2')
  expect(branchPositionText(tree, undefined, undefined)).toBe('')
})

test('a branch at a split is named by its first token, by the id of a token without a text, or by its end', () => {
  const texts = [
    { text: 'ls\u200b', id: 6, node: 3 },
    { text: null, id: 11, node: 3 },
    { text: null, id: null, node: 3 },
    { text: null, id: null, node: null },
  ].map(firstTokenText)
  expect(texts).toEqual(['ls⟨U+200B⟩', 'id 11', 'no token', 'end'])
})
