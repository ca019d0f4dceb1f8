import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ExportDialog } from './export-dialog.tsx'

function show(hasForced: boolean) {
  const save = vi.fn()
  const choices = [{ name: 'slime', label: 'slime', keeps: 'ids', save }]
  render(<ExportDialog title="Export" choices={choices} hasForced={hasForced} onClose={() => {}} />)
  return { save, user: userEvent.setup() }
}

test('An export keeps the loss mask of forced tokens unless the dialog trains them', async () => {
  const { save, user } = show(true)
  await user.click(screen.getByRole('button', { name: 'Export as slime' }))
  expect(save).toHaveBeenLastCalledWith('context')
  await user.click(screen.getByRole('checkbox', { name: 'Train the forced tokens (loss mask 1)' }))
  await user.click(screen.getByRole('button', { name: 'Export as slime' }))
  expect(save).toHaveBeenLastCalledWith('trained')
})

test('An export without forced tokens does not mention them', () => {
  show(false)
  expect(screen.queryByRole('region', { name: 'Forced tokens' })).toBeNull()
})
