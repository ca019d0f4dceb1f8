import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { TokenizerNames } from './tokenizer-names.tsx'

test('TokenizerNames chooses a tokenizer by click or keyboard, and marks the chosen one', async () => {
  const onChoose = vi.fn()
  render(<TokenizerNames names={['Qwen/Qwen3-8B', 'llama']} chosen="llama" onChoose={onChoose} />)
  const user = userEvent.setup()
  await user.click(screen.getByRole('button', { name: 'Qwen/Qwen3-8B' }))
  await user.keyboard('{Tab}{Enter}')
  expect(onChoose.mock.calls).toEqual([['Qwen/Qwen3-8B'], ['llama']])
  expect(screen.getByRole('button', { pressed: true }).textContent).toBe('llama')
})

test('TokenizerNames shows no list without tokenizers on this machine', () => {
  render(<TokenizerNames names={[]} chosen="" onChoose={() => {}} />)
  expect(screen.queryByRole('list')).toBeNull()
})
