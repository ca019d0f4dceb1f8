import { act, renderHook } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { useBoundedText } from './use-bounded-text.ts'

test('a bounded text that is too long is refused with its size and the limit, until one fits', async () => {
  const onText = vi.fn()
  const { result } = renderHook(() => useBoundedText(1000, onText))
  act(() => result.current.take('a'.repeat(1001)))
  expect(result.current.refusal).toContain('1,001 characters, more than the limit of 1,000')
  expect(onText).not.toHaveBeenCalled()
  act(() => result.current.take('short'))
  expect(result.current.refusal).toBeUndefined()
  expect(onText).toHaveBeenCalledExactlyOnceWith('short')
})

test('a bounded text does not read a file that is too large', async () => {
  const onText = vi.fn()
  const text = vi.fn(async () => 'é'.repeat(500))
  const { result } = renderHook(() => useBoundedText(500, onText))
  await act(() => result.current.takeFile({ size: 3_000_000, text }))
  expect(result.current.refusal).toContain('3,000,000 bytes')
  expect(text).not.toHaveBeenCalled()
  await act(() => result.current.takeFile({ size: 1000, text }))
  expect(onText).toHaveBeenCalledExactlyOnceWith('é'.repeat(500))
})
