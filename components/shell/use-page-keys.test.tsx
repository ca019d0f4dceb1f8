import { fireEvent, render } from '@testing-library/react'
import { useLayoutEffect } from 'react'
import { expect, test, vi } from 'vitest'
import { usePageKeys } from './use-page-keys.ts'

const onKey = vi.fn()

function Keys() {
  usePageKeys(({ key }) => onKey(key))
  return null
}

/** Presses a key as soon as its content is in the document, before the browser paints it. */
function EarlyKey() {
  useLayoutEffect(() => {
    fireEvent.keyDown(document.body, { key: 'N' })
  }, [])
  return <Keys />
}

test('A key acts as soon as the part that handles it is drawn', () => {
  render(<EarlyKey />)
  expect(onKey).toHaveBeenCalledExactlyOnceWith('N')
})
