import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ExportDialog } from './export-dialog.tsx'

function show(hasForced: boolean, offersAdvantage = false) {
  const save = vi.fn()
  const choices = [
    { name: 'slime', label: 'slime', keeps: 'ids', save },
    { name: 'verifiers', label: 'verifiers', keeps: 'ids', keepsAdvantages: true, save },
  ]
  render(
    <ExportDialog
      title="Export"
      choices={choices}
      hasForced={hasForced}
      offersAdvantage={offersAdvantage}
      onClose={() => {}}
    />,
  )
  return { save, user: userEvent.setup() }
}

test('An export keeps the loss mask of forced tokens unless the dialog trains them', async () => {
  const { save, user } = show(true)
  await user.click(screen.getByRole('button', { name: 'Export as slime' }))
  expect(save).toHaveBeenLastCalledWith('context', undefined)
  await user.click(screen.getByRole('checkbox', { name: 'Train the forced tokens (loss mask 1)' }))
  await user.click(screen.getByRole('button', { name: 'Export as slime' }))
  expect(save).toHaveBeenLastCalledWith('trained', undefined)
})

test('An export without forced tokens does not mention them', () => {
  show(false)
  expect(screen.queryByRole('region', { name: 'Forced tokens' })).toBeNull()
})

test('An export adds the advantages of a chosen formula, and each format says whether it has them', async () => {
  const { save, user } = show(false, true)
  expect(screen.getByRole('region', { name: 'Advantages' }).textContent).toContain('compared with its whole group')
  const formats = screen.getByRole('list')
  expect(formats.textContent).not.toMatch(/advantages/)
  await user.selectOptions(screen.getByLabelText('Advantage of each trained token'), 'leave one out')
  expect(screen.getByText('With the advantages.').parentElement?.textContent).toMatch(/^verifiers/)
  expect(screen.getByText(/^Without the advantages/).parentElement?.textContent).toMatch(/^slime/)
  await user.click(screen.getByRole('button', { name: 'Export as verifiers' }))
  expect(save).toHaveBeenLastCalledWith('context', 'leave-one-out')
})

test('A format that cannot represent the trajectory says why, and saves nothing', async () => {
  const save = vi.fn()
  const refusal = 'Not possible: the trajectory has no tokens.'
  render(
    <ExportDialog
      title="Export"
      choices={[{ name: 'slime', label: 'slime', keeps: 'ids', refusal, save }]}
      onClose={() => {}}
    />,
  )
  expect(screen.getByText(refusal)).toBeTruthy()
  await userEvent.setup().click(screen.getByRole('button', { name: 'Export as slime' }))
  expect(save).not.toHaveBeenCalled()
})

test('Each format has a line for its losses before they are known, so that no button moves when they arrive', () => {
  const lines = (lost?: readonly string[]) => {
    const choice = { name: 'slime', label: 'slime', keeps: 'ids', save: () => {}, ...(lost && { lost }) }
    const { unmount } = render(<ExportDialog title="Export" choices={[choice]} onClose={() => {}} />)
    const count = screen.getByRole('heading', { name: 'slime' }).parentElement?.childElementCount
    unmount()
    return count
  }
  expect([lines(), lines([]), lines(['the texts'])]).toEqual([3, 3, 3])
})
