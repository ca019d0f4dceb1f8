import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { storedToken, storeToken } from './api.ts'
import { keepInBrowser, readStoredText, removeStoredText } from './browser-storage.ts'

beforeEach(() => window.localStorage.clear())
afterEach(() => vi.restoreAllMocks())

test('Browser storage keeps a text until it is removed', () => {
  expect(readStoredText('a')).toBeNull()
  expect(keepInBrowser('a', '1')).toBe(true)
  expect(readStoredText('a')).toBe('1')
  removeStoredText('a')
  expect(readStoredText('a')).toBeNull()
})

test('Browser storage that is full keeps nothing, and reports it', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  expect(keepInBrowser('a', '1')).toBe(false)
})

test('Browser storage that is disabled contains nothing', () => {
  vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  expect(keepInBrowser('a', '1')).toBe(false)
  expect(readStoredText('a')).toBeNull()
  expect(() => removeStoredText('a')).not.toThrow()
})

test('Browser storage passes on other errors', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new TypeError('a fault of ours')
  })
  expect(() => keepInBrowser('a', '1')).toThrow(TypeError)
})

test('A launch token that the browser does not store belongs to the page until it is reloaded', () => {
  expect(storeToken('first-token-of-the-page')).toBe(true)
  vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  expect(storeToken('token-of-this-page-only')).toBe(false)
  expect(storedToken()).toBe('token-of-this-page-only')
})
