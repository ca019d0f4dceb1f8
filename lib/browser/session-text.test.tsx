import { afterEach, expect, test, vi } from 'vitest'
import { keepText, sessionText } from './session-text.ts'

afterEach(() => {
  vi.restoreAllMocks()
  window.sessionStorage.clear()
})

test('A session text is kept by its name, and removed when it is empty', () => {
  keepText('a', 'x\n')
  keepText('b', 'y')
  expect([sessionText('a'), sessionText('b'), sessionText('c')]).toEqual(['x\n', 'y', ''])
  keepText('a', '')
  expect(sessionText('a')).toBe('')
  expect(window.sessionStorage).toHaveLength(1)
})

test('A session text is empty if the session storage is switched off', () => {
  vi.spyOn(window, 'sessionStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  keepText('a', 'x')
  expect(sessionText('a')).toBe('')
})

test('A session text is lost without an error if the session storage is full', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  keepText('a', 'x')
  expect(sessionText('a')).toBe('')
})
