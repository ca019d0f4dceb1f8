import { cleanup, render, screen } from '@testing-library/react'
import { Component, type ReactNode } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { lazyPart } from './lazy-part.tsx'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

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

test('a lazy part that is opened while the application does not answer is shown when it answers again', async () => {
  vi.useFakeTimers()
  let isUp = false
  vi.stubGlobal('fetch', async () => {
    if (!isUp) throw new TypeError('Failed to fetch')
    return Response.json({})
  })
  const Part = lazyPart(
    async () => {
      if (!isUp) throw new Error('Failed to load chunk')
      return Greeting
    },
    <p>Loading…</p>,
  )
  render(<Part name="Ada" />)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(screen.getByText('Loading…')).toBeTruthy()
  isUp = true
  await vi.advanceTimersByTimeAsync(1_000)
  vi.useRealTimers()
  expect(await screen.findByText('Hello Ada')).toBeTruthy()
})

test('a lazy part that the application no longer has throws the error of its second attempt', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}))
  vi.spyOn(console, 'error').mockImplementation(() => {})
  let attempts = 0
  const Part = lazyPart(async () => {
    throw new Error(`attempt ${++attempts}`)
  })
  render(
    <Failure>
      <Part />
    </Failure>,
  )
  expect(await screen.findByText('attempt 2')).toBeTruthy()
})

class Failure extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {}
  static getDerivedStateFromError = (error: Error) => ({ error })
  override render = () => this.state.error?.message ?? this.props.children
}
