import { act, render, renderHook, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { Button } from './button.tsx'
import { Fact, Facts } from './facts.tsx'
import { CheckField } from './field.tsx'
import { useEqualRows } from './rows/equal-rows.ts'
import { useRowWindow } from './rows/row-window.tsx'

test('a checkbox is described by its note, which is not part of its name', () => {
  render(<CheckField label="Live view" note="off: whole replies" />)
  const box = screen.getByRole('checkbox', { name: 'Live view' })
  const note = document.getElementById(box.getAttribute('aria-describedby') ?? '')
  expect(note?.textContent).toBe('off: whole replies')
})

function Form({ onSend }: { readonly onSend: () => void }) {
  const [isSending, setIsSending] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
        setIsSending(true)
      }}
    >
      <Button type="submit" disabled={isSending}>
        Send
      </Button>
      <Button>Cancel</Button>
    </form>
  )
}

test('a button that its own action disables keeps the focus and does nothing, until the focus leaves it', async () => {
  const send = vi.fn()
  render(<Form onSend={send} />)
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Send' })
  button.focus()
  await userEvent.keyboard('{Enter}{Enter}')
  expect(send).toHaveBeenCalledOnce()
  expect(document.activeElement).toBe(button)
  expect([button.disabled, button.ariaDisabled]).toEqual([false, 'true'])
  await userEvent.tab()
  expect(document.activeElement?.textContent).toBe('Cancel')
  expect(button.disabled).toBe(true)
})

test('the name of a fact with a title shows it as text', async () => {
  render(
    <Facts>
      <Fact name="rank" title="Among the recorded alternatives">
        1
      </Fact>
    </Facts>,
  )
  expect(screen.queryByText('Among the recorded alternatives')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'rank', expanded: false }))
  expect(screen.getByText('Among the recorded alternatives')).toBeDefined()
})

test('A long list has its first 2,000 rows on paper, and the number of the others', () => {
  const heightOf = () => 20
  const { result } = renderHook(() => useRowWindow({ count: 2_100, heightOf }))
  const { first, end, after, unprinted } = result.current
  expect(end - first).toBeLessThan(100)
  expect([after, unprinted]).toEqual([(2_100 - end) * 20, 0])
  act(() => window.dispatchEvent(new Event('beforeprint')))
  expect(result.current).toMatchObject({ first: 0, end: 2_000, after: 0, unprinted: 100 })
  act(() => window.dispatchEvent(new Event('afterprint')))
  expect(result.current).toMatchObject({ first, end, after, unprinted: 0 })
})

test.each([
  [1_900, 1_900, 0],
  [2_100, 2_000, 100],
])('A list of %i rows of one height has %i of them on paper, in a box of their height', (count, printed, unprinted) => {
  const { result } = renderHook(() => useEqualRows({ count, rowHeight: 20, margin: 5, usualHeight: 400 }))
  expect(result.current).toMatchObject({ first: 0, end: 25, height: count * 20, unprinted: 0 })
  act(() => window.dispatchEvent(new Event('beforeprint')))
  expect(result.current).toMatchObject({ first: 0, end: printed, top: 0, height: printed * 20, unprinted })
  act(() => window.dispatchEvent(new Event('afterprint')))
  expect(result.current).toMatchObject({ first: 0, end: 25, height: count * 20, unprinted: 0 })
})
