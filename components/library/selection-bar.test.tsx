import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { SelectionBar } from './selection-bar.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({ useNavigation: () => ({ go: vi.fn() }) }))

const bar = (at: number) => {
  const onDismiss = vi.fn()
  const none = () => {}
  render(
    <SelectionBar
      chosen={new Set()}
      undoable={{ keys: ['a', 'b'], at }}
      onExport={none}
      onRemove={none}
      onClear={none}
      onUndo={none}
      onDismiss={onDismiss}
    />,
  )
  return onDismiss
}

test('the message of a deletion has its time if it is not recent, because it may be from an earlier visit', () => {
  bar(Date.now() - 2 * 24 * 60 * 60_000)
  expect(screen.getByRole('status').textContent).toMatch(/^2 deleted, .*\d.*\.$/)
})

test('the message of a recent deletion is short, and can be dismissed', async () => {
  const onDismiss = bar(Date.now())
  expect(screen.getByRole('status').textContent).toBe('2 deleted.')
  await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(onDismiss).toHaveBeenCalledOnce()
})
