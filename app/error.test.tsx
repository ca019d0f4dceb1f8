import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import ErrorPage from './error.tsx'

const MISSING =
  'Module 498158 was instantiated because it was required from module 399711, but the module factory is not available.'

test.each([
  ['a file that did not arrive', Object.assign(new Error('Failed to load chunk'), { name: 'ChunkLoadError' })],
  ['a module whose file has not arrived', new Error(MISSING)],
])('%s needs a reload of the page', (_, error) => {
  render(<ErrorPage error={error} reset={vi.fn()} />)
  screen.getByRole('button', { name: 'Reload page' })
  expect(screen.queryByText(/module/i)).toBeNull()
})

test('another error is shown, and the page can be drawn again', () => {
  const reset = vi.fn()
  render(<ErrorPage error={new Error('the sum is wrong')} reset={reset} />)
  screen.getByText('the sum is wrong')
  screen.getByRole('button', { name: 'Try again' }).click()
  expect(reset).toHaveBeenCalledOnce()
})
