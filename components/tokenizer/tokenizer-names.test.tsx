import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { TokenizerNames } from './tokenizer-names.tsx'

test('a tokenizer of this machine is chosen by a click or by the keyboard, and the chosen one is marked', async () => {
  const onChoose = vi.fn()
  render(<TokenizerNames names={['Qwen/Qwen3-8B', 'llama']} chosen="llama" onChoose={onChoose} />)
  const user = userEvent.setup()
  await user.click(screen.getByRole('button', { name: 'Qwen/Qwen3-8B' }))
  await user.keyboard('{Tab}{Enter}')
  expect(onChoose.mock.calls).toEqual([['Qwen/Qwen3-8B'], ['llama']])
  expect(screen.getByRole('button', { pressed: true }).textContent).toBe('llama')
})

test('where no tokenizer is found on this machine there is no list', () => {
  render(<TokenizerNames names={[]} chosen="" onChoose={() => {}} />)
  expect(screen.queryByRole('list')).toBeNull()
})
