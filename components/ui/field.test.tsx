import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CheckField } from './field.tsx'

test('the note of a box describes it, and is no part of its name', () => {
  render(<CheckField label="Live view" note="off: whole replies" />)
  const box = screen.getByRole('checkbox', { name: 'Live view' })
  const note = document.getElementById(box.getAttribute('aria-describedby') ?? '')
  expect(note?.textContent).toBe('off: whole replies')
})
