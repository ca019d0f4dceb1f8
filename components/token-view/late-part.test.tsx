import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { latePart } from './late-part.tsx'

const Greeting = ({ name }: { readonly name: string }) => <p>Hello {name}</p>

test('a late part whose code cannot be loaded says so, and loads it again when it is shown the next time', async () => {
  let isUp = false
  const Part = latePart(async () => {
    if (!isUp) throw new Error('Failed to load chunk')
    return Greeting
  })
  const { unmount } = render(<Part name="Ada" />)
  expect(await screen.findByRole('alert')).toBeTruthy()
  unmount()
  isUp = true
  const second = render(<Part name="Ada" />)
  expect(await screen.findByText('Hello Ada')).toBeTruthy()
  second.unmount()
  render(<Part name="Bob" />)
  expect(screen.getByText('Hello Bob')).toBeTruthy()
})
