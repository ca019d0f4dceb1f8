/** Restores the globals and mocks of a test file before the next one begins, because test files share a worker. */
import { afterAll, vi } from 'vitest'

afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  // Otherwise later files would fail because of this one.
  for (const key in {}) {
    Reflect.deleteProperty(Object.prototype, key)
    throw new Error(`Object.prototype has the property ${key}, which code of this file has written`)
  }
})
