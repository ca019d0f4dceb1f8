import { createContext, Script } from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'
import { isTimeout, runLimited } from './run-limited.ts'

afterEach(() => void vi.restoreAllMocks())

const thrownBy = (action: () => unknown): unknown => {
  try {
    return action()
  } catch (error) {
    return error
  }
}

test('runLimited returns the result of a script or throws its error at once', () => {
  expect(runLimited(new Script('text.length'), createContext({ text: 'abc' }), 100)).toBe(3)
  const run = vi.fn(() => {
    throw new RangeError('too deep')
  })
  const context = createContext({ run })
  expect(thrownBy(() => runLimited(new Script('run()'), context, 100))).toEqual(new RangeError('too deep'))
  expect(run).toHaveBeenCalledTimes(1)
})

test('runLimited times out for a script that does not end', () => {
  expect(isTimeout(thrownBy(() => runLimited(new Script('for (;;);'), createContext({}), 20)))).toBe(true)
})

test('runLimited times out only if this thread spent the time', () => {
  const timeout = Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
  const runs = vi.fn().mockImplementationOnce(() => {
    throw timeout
  })
  vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 9_000, system: 1_000 })
  expect(runLimited(new Script('runs(), 7'), createContext({ runs }), 20)).toBe(7)
  vi.mocked(process.threadCpuUsage).mockReturnValue({ user: 9_000, system: 1_001 })
  runs.mockImplementationOnce(() => {
    throw timeout
  })
  expect(thrownBy(() => runLimited(new Script('runs(), 7'), createContext({ runs }), 20))).toBe(timeout)
})
