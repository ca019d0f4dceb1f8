import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { lazyPart } from './lazy-part.tsx'

afterEach(cleanup)

const Greeting = ({ name }: { readonly name: string }) => <p>Hello {name}</p>

test('a lazy part shows the text for loading until its code is loaded', async () => {
  const Part = lazyPart(async () => Greeting, <p>Loading…</p>)
  render(<Part name="Ada" />)
  expect(screen.getByText('Loading…')).toBeTruthy()
  expect(await screen.findByText('Hello Ada')).toBeTruthy()
})

test('a lazy part whose code was loaded ahead is shown at once, and keeps its element when it is rendered again', async () => {
  const code = Promise.withResolvers<typeof Greeting>()
  const Part = lazyPart(() => code.promise, <p>Loading…</p>)
  Part.preload()
  code.resolve(Greeting)
  await code.promise
  await Promise.resolve()
  const { rerender } = render(<Part name="Ada" />)
  const shown = screen.getByText('Hello Ada')
  rerender(<Part name="Bo" />)
  expect(screen.getByText('Hello Bo')).toBe(shown)
})

test('a lazy part that failed to load ahead is loaded again when it is shown', async () => {
  let attempts = 0
  const Part = lazyPart(
    async () => {
      if (++attempts === 1) throw new Error('no connection')
      return Greeting
    },
    <p>Loading…</p>,
  )
  Part.preload()
  render(<Part name="Ada" />)
  expect(await screen.findByText('Hello Ada')).toBeTruthy()
  expect(attempts).toBe(2)
})
