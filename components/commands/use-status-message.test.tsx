import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useStatusMessage } from './use-status-message.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a message disappears after four seconds', () => {
  const { result } = renderHook(useStatusMessage)
  act(() => result.current.say('body copied.'))
  act(() => vi.advanceTimersByTime(3_999))
  expect(result.current.message).toBe('body copied.')
  act(() => vi.advanceTimersByTime(1))
  expect(result.current.message).toBe('')
})

test('a message that comes in the moment in which the one before it ends stays', () => {
  const { result } = renderHook(useStatusMessage)
  act(() => result.current.say('body copied.'))
  // The time of the first message ends before React has rendered the second one.
  act(() => {
    result.current.say('cURL copied.')
    vi.advanceTimersByTime(4_000)
  })
  expect(result.current.message).toBe('cURL copied.')
})
