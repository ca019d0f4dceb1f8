import { act, renderHook, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import { useSetup } from './use-setup.ts'

const KEY = 'rollscope.setup'
const stored = (): Setup => JSON.parse(window.localStorage.getItem(KEY) ?? 'null')

beforeEach(() => window.localStorage.clear())

test('useSetup returns the default setup without a stored one, and stores each change', () => {
  const { result } = renderHook(useSetup)
  expect(result.current[0]).toBe(DEFAULT_SETUP)
  act(() => result.current[1]({ ...DEFAULT_SETUP, system: 'Be brief.' }))
  expect(result.current[0].system).toBe('Be brief.')
  expect(stored()).toEqual({ ...DEFAULT_SETUP, system: 'Be brief.' })
})

test('useSetup returns the stored setup, with the default of each field that cannot be read', async () => {
  window.localStorage.setItem(KEY, JSON.stringify({ system: 'Stored.', samples: 4 }))
  const { result } = renderHook(useSetup)
  await waitFor(() => expect(result.current[0]).toEqual({ ...DEFAULT_SETUP, system: 'Stored.' }))
})

test('useSetup returns the default setup if the stored text is no JSON', async () => {
  window.localStorage.setItem(KEY, '{"system"')
  const { result } = renderHook(useSetup)
  await act(() => import('#lib/share/settings/setup-schema.ts'))
  expect(result.current[0]).toEqual(DEFAULT_SETUP)
})

test('A change before the stored setup is read keeps the other stored fields, also those beside it in a group of fields', async () => {
  const limits = { ...DEFAULT_SETUP.limits, maxTokens: '99' }
  window.localStorage.setItem(KEY, JSON.stringify({ system: 'Stored.', samples: '4', limits }))
  const { result } = renderHook(useSetup)
  const [shown, change] = result.current
  act(() => change({ ...shown, samples: '8', tools: [], limits: { ...shown.limits, maxMessages: '7' } }))
  const expected = { system: 'Stored.', samples: '8', tools: [], limits: { ...limits, maxMessages: '7' } }
  await waitFor(() => expect(result.current[0]).toMatchObject(expected))
  expect(stored()).toMatchObject(expected)
})

test('useSetup says that the stored setup is being read from the first render on until it is read', async () => {
  window.localStorage.setItem(KEY, JSON.stringify({ system: 'Stored.' }))
  const { result } = renderHook(useSetup)
  expect(result.current[2]).toBe(true)
  await waitFor(() => expect(result.current[2]).toBe(false))
  expect(result.current[0].system).toBe('Stored.')
})

test('A stored setup stays as it is if its schema cannot be loaded', async () => {
  vi.resetModules()
  vi.doMock('#lib/share/settings/setup-schema.ts', () => {
    throw new Error('the server has another build')
  })
  try {
    window.localStorage.setItem(KEY, JSON.stringify({ system: 'Stored.' }))
    const { result } = renderHook((await import('./use-setup.ts')).useSetup)
    await act(() => import('#lib/share/settings/setup-schema.ts').catch(() => {}))
    expect(result.current[2]).toBe(false)
    act(() => result.current[1]({ ...result.current[0], samples: '8' }))
    expect(result.current[0].samples).toBe('8')
    expect(stored()).toEqual({ system: 'Stored.' })
  } finally {
    vi.doUnmock('#lib/share/settings/setup-schema.ts')
    vi.resetModules()
  }
})
