import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { MarkerBanner } from './marker-banner.tsx'

const markers = ['[gMASK]', '<sop>', '<|system|>', '<|user|>', '<|assistant|>', '<|observation|>', '<|a|>', '<|b|>']

test('MarkerBanner names the markers that the tokenizer lacks, and offers a tokenizer that has them', async () => {
  const onTokenizer = vi.fn()
  const props = { markers, tokenizer: 'Qwen/Qwen3-8B', suggested: ['my-glm', 'zai-org/GLM-4.6'], onTokenizer }
  const { rerender, container } = render(<MarkerBanner {...props} />)
  expect(screen.getByRole('status').textContent).toMatch(
    /^8 markers of the template are not tokens of Qwen\/Qwen3-8B: \[gMASK\] <sop> .*<\|observation\|> and 2 moreThey are/,
  )
  await userEvent.click(screen.getByRole('button', { name: 'Use zai-org/GLM-4.6' }))
  expect(onTokenizer).toHaveBeenCalledWith('zai-org/GLM-4.6')
  rerender(<MarkerBanner {...props} markers={[]} />)
  expect(container.textContent).toBe('')
})

test('MarkerBanner stays dismissed for the same markers and tokenizer, and returns for others', async () => {
  const props = { markers: ['<sop>'], tokenizer: 'a', suggested: [], onTokenizer: () => {} }
  const { rerender } = render(<MarkerBanner {...props} />)
  await userEvent.click(screen.getByRole('button', { name: 'Hide' }))
  expect(screen.queryByRole('status')).toBeNull()
  rerender(<MarkerBanner {...props} tokenizer="b" />)
  expect(screen.getByRole('status').textContent).toMatch(/^<sop> is not a token of b\./)
})
