import { expect, test } from 'vitest'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { rewardDraftOf, rewardRuleOf, wrongField } from './reward-draft.ts'
import { DEFAULT_SETUP, type RewardDraft } from './setup.ts'

const draft = (fields: Partial<RewardDraft>): RewardDraft => ({ ...DEFAULT_SETUP.reward, ...fields })

test.each<RewardRule>([
  { kind: 'exact', expected: 'Paris' },
  { kind: 'exact', expected: '', ignoreCase: true },
  { kind: 'pattern', pattern: '#### (\\d+)', expected: '7' },
  { kind: 'pattern', pattern: 'yes', ignoreCase: true },
  { kind: 'number', expected: 434, tolerance: 0.01 },
  { kind: 'number', expected: -1e-7 },
])('a reward rule is unchanged after conversion to fields and back: %o', (rule) => {
  expect(rewardRuleOf(rewardDraftOf(rule))).toEqual(rule)
})

test('the fields of no reward rule give no rule', () => {
  expect(rewardRuleOf(rewardDraftOf(null))).toBe(undefined)
})

test('numbers of a reward rule are read in the same way as numbers in answers', () => {
  expect(rewardRuleOf(draft({ kind: 'number', expected: ' 1,000 ', tolerance: '1%' }))).toEqual({
    kind: 'number',
    expected: 1000,
    tolerance: 0.01,
  })
})

test.each([
  [{ kind: 'number' }, 'expected', /number/],
  [{ kind: 'number', expected: 'many' }, 'expected', /number/],
  [{ kind: 'number', expected: '1e999' }, 'expected', /finite/],
  [{ kind: 'number', expected: '1', tolerance: '1e999' }, 'tolerance', /finite/],
  [{ kind: 'number', expected: '1', tolerance: '-1' }, 'tolerance', /tolerance/],
  [{ kind: 'number', expected: '1', tolerance: 'x' }, 'tolerance', /tolerance/],
  [{ kind: 'pattern' }, 'pattern', /regular expression/],
  [{ kind: 'pattern', pattern: '(' }, 'pattern', /JavaScript/],
] as const)('a reward draft without a valid rule is refused with its field: %o', (fields, field, why) => {
  expect(rewardRuleOf(draft(fields))).toMatch(why)
  expect(wrongField(draft(fields))).toBe(field)
})
