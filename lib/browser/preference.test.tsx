import { act, renderHook } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { type Preference, readPreference, usePreference } from './preference.ts'

const size: Preference<number> = {
  name: 'size',
  usual: 13,
  read: (kept) => (typeof kept === 'number' && kept > 0 ? kept : undefined),
}

afterEach(() => {
  vi.restoreAllMocks()
  window.localStorage.clear()
})

test('A preference is visible in every view, and on the next visit', () => {
  const first = renderHook(() => usePreference(size))
  const second = renderHook(() => usePreference(size))
  expect(first.result.current[0]).toBe(13)
  act(() => first.result.current[1](16))
  expect(second.result.current[0]).toBe(16)
  expect(renderHook(() => usePreference(size)).result.current[0]).toBe(16)
})

test('A preference that is set in another window is visible here', () => {
  const { result } = renderHook(() => usePreference(size))
  act(() => {
    window.localStorage.setItem('rollscope.preference.size', '18')
    window.dispatchEvent(new StorageEvent('storage'))
  })
  expect(result.current[0]).toBe(18)
})

test.each([null, 'x', '{}', '-4'])(
  'A preference ignores the stored %j, which is none of its values, and has its default',
  (kept) => {
    expect(readPreference(size, kept)).toBe(13)
  },
)

test('A preference applies to this window if the browser stores nothing', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  const { result } = renderHook(() => usePreference(size))
  act(() => result.current[1](11))
  expect(result.current[0]).toBe(11)
})
