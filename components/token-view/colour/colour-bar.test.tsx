import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { ColourBar } from './colour-bar.tsx'
import { colouringOf } from './colouring.ts'

test('The scale of each colour is computed when the menu is opened, before one is chosen', () => {
  vi.useFakeTimers()
  try {
    let reads = 0
    const segment = {
      kind: 'response' as const,
      ids: [1, 2],
      get logprobs() {
        reads++
        return [-1, -2]
      },
      thinks: [],
      toolCalls: [],
    }
    const trajectory = { model: { tools: [] }, segments: [segment] }
    render(<ColourBar trajectory={trajectory} colouring={colouringOf(trajectory, 'mask')} onChange={() => {}} />)
    screen.getByLabelText('More colour modes').focus()
    vi.runAllTimers()
    const prepared = reads
    expect(colouringOf(trajectory, 'probability').scale).toMatchObject({ known: 2 })
    expect(reads).toBe(prepared)
  } finally {
    vi.useRealTimers()
  }
})
