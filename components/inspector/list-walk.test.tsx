import { fireEvent, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { type ListPlace, ListWalk } from './list-walk.tsx'

const place: ListPlace = {
  name: 'in the library',
  href: '/library?row=b',
  number: 3,
  total: 1_200,
  previous: '/t/a',
  next: '/t/c',
}

test('the list navigation shows the position, with links to the neighbours and to the list', () => {
  render(<ListWalk place={place} onOpen={() => {}} />)
  expect(screen.getByRole('navigation', { name: 'List of trajectories' }).textContent).toContain('3 of 1,200')
  const hrefs = screen.getAllByRole('link').map((link) => link.getAttribute('href'))
  expect(hrefs).toEqual(['/t/a', '/t/c', '/library?row=b'])
})

test('the list navigation shows a disabled button at an end of the list', () => {
  render(<ListWalk place={{ ...place, next: undefined, number: undefined }} onOpen={() => {}} />)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: /^Next/ }).disabled).toBe(true)
  expect(screen.getByText('Not among the 1,200')).toBeDefined()
})

test('the list navigation opens the neighbours with N and P, unless the focus is in a field or a dialog is open', () => {
  const onOpen = vi.fn()
  const { rerender } = render(
    <>
      <ListWalk place={place} onOpen={onOpen} />
      <input aria-label="field" />
    </>,
  )
  fireEvent.keyDown(document.body, { key: 'N' })
  fireEvent.keyDown(document.body, { key: 'P' })
  expect(onOpen.mock.calls).toEqual([['/t/c'], ['/t/a']])
  fireEvent.keyDown(screen.getByLabelText('field'), { key: 'N' })
  fireEvent.keyDown(document.body, { key: 'N', ctrlKey: true })
  fireEvent.keyDown(document.body, { key: 'n' })
  rerender(
    <>
      <ListWalk place={{ ...place, next: undefined }} onOpen={onOpen} />
      <dialog open />
    </>,
  )
  fireEvent.keyDown(document.body, { key: 'N' })
  fireEvent.keyDown(document.body, { key: 'P' })
  expect(onOpen).toHaveBeenCalledTimes(2)
})
