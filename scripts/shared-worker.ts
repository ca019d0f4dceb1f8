/** Restores the globals and mocks of a test file before the next one begins, because test files share a worker. */
import { readFileSync } from 'node:fs'
import { afterAll, expect, vi } from 'vitest'

// A module that another file has loaded would keep what it imported, instead of the mock of this file, and the other way round.
if (/^vi\.mock\(/m.test(readFileSync(expect.getState().testPath ?? '', 'utf8'))) {
  vi.resetModules()
  afterAll(() => {
    vi.resetModules()
  })
}

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
