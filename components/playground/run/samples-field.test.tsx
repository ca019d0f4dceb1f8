// @vitest-environment jsdom
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { RewardButton } from './reward-button.tsx'
import { SamplesField } from './samples-field.tsx'

const empty = DEFAULT_SETUP.reward

test.each([
  [{}, 'Reward of the answers'],
  [{ kind: 'number', expected: '434' }, 'Reward: number 434, of the answers'],
  [{ kind: 'exact', expected: 'a long expected answer' }, 'Reward: exact a long expected …, of the answers'],
  [{ kind: 'pattern', expected: '7', pattern: '\\d+' }, 'Reward: pattern \\d+, of the answers'],
  [{ kind: 'number' }, 'Reward: number, of the answers'],
] as const)('The button of the reward %j is %j', (reward, label) => {
  render(<RewardButton reward={{ ...empty, ...reward }} error={undefined} onChange={() => {}} />)
  expect(screen.getByRole('button').getAttribute('aria-label')).toBe(label)
})

test('Several samples, or a reward, have a button for the reward, and one sample without a reward has none', async () => {
  const field = (samples: string, reward: Partial<typeof empty> = {}) => (
    <SamplesField setup={{ samples, reward: { ...empty, ...reward } }} onChange={() => {}} errors={{}} />
  )
  const { rerender } = render(field('4'))
  expect(await screen.findByRole('button', { name: 'Reward of the answers' })).toBeDefined()
  rerender(field('1', { kind: 'exact', expected: '7' }))
  expect(screen.getByRole('button', { name: 'Reward: exact 7, of the answers' })).toBeDefined()
  rerender(field('1'))
  expect(screen.queryByRole('button')).toBeNull()
})
