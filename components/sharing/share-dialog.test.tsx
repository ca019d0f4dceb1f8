import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ShareDialog } from './share-dialog.tsx'

test('the share dialog warns about a link that programs would cut, and opens a pasted one', async () => {
  const onOpen = vi.fn()
  const props = { what: 'setup', about: 'No keys.', copies: [], onSave: () => {}, onOpen, onClose: () => {} } as const
  const { rerender } = render(
    <ShareDialog {...props} link={{ kind: 'ready', href: 'http://a/#setup=x' }} problem={undefined} />,
  )
  expect(screen.getByLabelText('Link')).toHaveProperty('value', 'http://a/#setup=x')
  expect(screen.queryByText(/send the file/)).toBeNull()
  expect(screen.getByRole('button', { name: 'Preview' })).toHaveProperty('disabled', true)
  await userEvent.type(screen.getByLabelText('Link or JSON'), 'http://b/#setup=y{Tab}{Enter}')
  expect(onOpen).toHaveBeenCalledWith('http://b/#setup=y')
  rerender(<ShareDialog {...props} link={{ kind: 'ready', href: 'x'.repeat(9000) }} problem="It is cut off." />)
  expect(screen.getByText(/has 9,000 characters/)).toBeDefined()
  expect(screen.getByText('It is cut off.')).toBeDefined()
  expect(screen.getByRole('button', { name: 'Copy link' })).toBeDefined()
  rerender(<ShareDialog {...props} link={{ kind: 'too-large' }} problem={undefined} />)
  expect(screen.getByText(/setup is larger than a link can hold: send the file/)).toBeDefined()
  expect(screen.queryByLabelText('Link')).toBeNull()
  expect(screen.queryByRole('button', { name: 'Copy link' })).toBeNull()
})
