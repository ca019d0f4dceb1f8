// @vitest-environment jsdom
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { rewardDraftSchema } from '#lib/share/settings/reward-draft.ts'
import { SamplesField } from './samples-field.tsx'

const empty = rewardDraftSchema.parse({})
const button = (reward: Partial<typeof empty>, samples = '4') => {
  render(<SamplesField setup={{ samples, reward: { ...empty, ...reward } }} onChange={() => {}} errors={{}} />)
  return screen.queryByRole('button')?.getAttribute('aria-label')
}

test.each([
  [{}, 'Reward of the answers'],
  [{ kind: 'number', expected: '434' }, 'Reward: number 434, of the answers'],
  [{ kind: 'exact', expected: 'a long expected answer' }, 'Reward: exact a long expected …, of the answers'],
  [{ kind: 'pattern', expected: '7', pattern: '\\d+' }, 'Reward: pattern \\d+, of the answers'],
  [{ kind: 'number' }, 'Reward: number, of the answers'],
] as const)('The button of the reward %j is %j', (reward, label) => {
  expect(button(reward)).toBe(label)
})

test('One sample without a reward has no button for a reward', () => {
  expect(button({}, '1')).toBeUndefined()
})
