import { act, renderHook } from '@testing-library/react'
import { parseAsBoolean, parseAsInteger } from 'nuqs'
import { NuqsTestingAdapter } from 'nuqs/adapters/testing'
import { expect, test } from 'vitest'
import { useAddress } from './use-address.ts'

const NAMES = { drift: parseAsInteger, only: parseAsBoolean.withDefault(false) }

/** Renders the hook. Without a memory, the address stays empty, as if the router wrote an old one back. */
function renderAddress() {
  const written: string[] = []
  const { result } = renderHook(() => useAddress(NAMES), {
    wrapper: ({ children }) => (
      <NuqsTestingAdapter onUrlUpdate={({ queryString }) => written.push(queryString)}>{children}</NuqsTestingAdapter>
    ),
  })
  return { written, result }
}

test('a change of the address also writes the changes before it that the router has not reported', async () => {
  const { written, result } = renderAddress()
  const set = (change: Parameters<(typeof result.current)[1]>[0]) => act(() => result.current[1](change))
  await set({ drift: 1 })
  await set({ drift: 0 })
  await set({ only: true })
  expect(written).toEqual(['?drift=1', '?drift=0', '?drift=0&only=true'])
  await set({ drift: null, only: null })
  expect(written.at(-1)).toBe('')
  expect(result.current[0]).toEqual({ drift: null, only: false })
})

test('values of the address that the user went back to are not written again', async () => {
  const { written, result } = renderAddress()
  await act(() => result.current[1]({ drift: 1 }))
  act(() => window.dispatchEvent(new PopStateEvent('popstate')))
  await act(() => result.current[1]({ only: true }))
  expect(written.at(-1)).toBe('?only=true')
})
