import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CheckField } from './field.tsx'

test('a checkbox is described by its note, which is not part of its name', () => {
  render(<CheckField label="Live view" note="off: whole replies" />)
  const box = screen.getByRole('checkbox', { name: 'Live view' })
  const note = document.getElementById(box.getAttribute('aria-describedby') ?? '')
  expect(note?.textContent).toBe('off: whole replies')
})
