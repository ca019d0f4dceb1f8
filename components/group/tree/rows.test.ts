import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { float64At, int32At } from '#lib/util/element-at.ts'
import { groupOf, wordTrajectory } from '../test-group.ts'
import type { BranchMode } from './folds.ts'
import { itemIndexAtHeight, itemOfSpot, itemSpanBetween, rowOfToken, type TreeRows, tokensOfItem } from './rows.ts'
import { LONG_GROUP, rowsOf } from './test-rows.ts'

const MODES: readonly BranchMode[] = ['folded', 'short', 'whole']

const kinds = (rows: TreeRows) => rows.items.map(({ kind, branch, rows }) => `${kind} ${branch} × ${rows}`)

describe('The rows of a tree', () => {
  test('show the beginning and the end of a long branch, and all of it in the whole mode', () => {
    expect(kinds(rowsOf(LONG_GROUP, () => 'short'))).toEqual([
      'tokens 0 × 1',
      'head 1 × 1',
      'tokens 1 × 4',
      'fold 1 × 1',
      'tokens 1 × 3',
      'head 2 × 1',
      'tokens 2 × 2',
    ])
    expect(kinds(rowsOf(LONG_GROUP, () => 'whole'))[2]).toBe('tokens 1 × 31')
  })

  test('have one line of a folded branch, and nothing of the branches after it', () => {
    const rows = rowsOf(LONG_GROUP, (branch) => (branch === 0 ? 'folded' : 'short'))
    expect(kinds(rows)).toEqual(['tokens 0 × 1'])
    expect([...rows.itemOfBranch]).toEqual([0, -1, -1])
    expect(itemOfSpot(rows, { branch: 1, token: 5 })).toBe(0)
  })

  test('keep nearly the same height when the tokens are loaded', () => {
    const [before, after] = [rowsOf(LONG_GROUP, () => 'short', false), rowsOf(LONG_GROUP, () => 'short')]
    expect(kinds(before)).toEqual(['pending 0 × 1', 'head 1 × 1', 'pending 1 × 8', 'head 2 × 1', 'pending 2 × 2'])
    expect(Math.abs(before.height - after.height)).toBeLessThan(3 * before.rowHeight)
  })

  test('contain each visible token once, and find the item and the row of every token, for any samples and modes', () => {
    const word = fc.constantFrom('I', 'list', 'find', 'ls', '\n')
    const response = fc.array(word, { maxLength: 40 }).map((words) => words.join('|'))
    const modes = fc.array(fc.constantFrom(...MODES), { minLength: 20, maxLength: 20 })
    fc.assert(
      fc.property(fc.array(response, { minLength: 1, maxLength: 5 }), modes, (responses, modes) => {
        const group = groupOf(
          responses.map((response, index) => wordTrajectory(String(index), 'how|many', response)),
          responses.map(() => null),
        )
        const rows = rowsOf(group, (branch) => modes[branch] ?? 'short')
        const seen = new Set<string>()
        for (const [index, item] of rows.items.entries()) {
          expect(rows.tops[index + 1]).toBeGreaterThan(float64At(rows.tops, index))
          expect(itemIndexAtHeight(rows, float64At(rows.tops, index) + 1)).toBe(index)
          if (item.kind === 'head' || (item.kind === 'tokens' && item.isFolded)) continue
          const tokens = tokensOfItem(rows, index)
          for (let token = tokens?.start ?? 0; token < (tokens?.end ?? 0); token++) {
            const spot = { branch: item.branch, token }
            expect(seen.has(`${item.branch} ${token}`)).toBe(false)
            seen.add(`${item.branch} ${token}`)
            expect(itemOfSpot(rows, spot)).toBe(index)
            expect(rowOfToken(item, token)).toBeLessThan(item.rows)
          }
        }
        for (const { index, start, end } of rows.tree.branches) {
          if (int32At(rows.itemOfBranch, index) < 0 || modes[index] === 'folded') continue
          for (let token = start; token < end; token++) expect(seen.has(`${index} ${token}`)).toBe(true)
        }
        const { start, end } = itemSpanBetween(rows, 0, rows.height)
        expect([start, end]).toEqual([0, rows.items.length])
      }),
    )
  })

  test('of a tree without branches are empty', () => {
    const rows = rowsOf(groupOf([wordTrajectory('a', '', '')], [null]), () => 'short')
    expect([rows.items.length, itemSpanBetween(rows, 0, 100)]).toEqual([0, { start: 0, end: 0 }])
  })
})
