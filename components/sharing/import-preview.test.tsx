import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { FIRST_CHOICES, type ImportChoices, importPlan } from '#lib/share/settings/settings-import.ts'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { ImportPreview } from './import-preview.tsx'

const plan = importPlan(
  { servers: [{ name: 'new', baseUrl: 'http://a', needsKey: true }], setup: { ...DEFAULT_SETUP, server: 'new' } },
  { servers: [], setup: DEFAULT_SETUP, presets: [] },
)
const shown = (choices: ImportChoices, failures: ReadonlyMap<string, string> = new Map()) => {
  const onChoose = vi.fn()
  render(
    <ImportPreview
      fileName="settings.json"
      plan={plan}
      ignored={[]}
      choices={choices}
      failures={failures}
      isImporting={false}
      onChoose={onChoose}
      onImport={() => {}}
      onClose={() => {}}
    />,
  )
  return onChoose
}
const row = () => within(screen.getByRole('group', { name: 'Server new' }))

test('the import preview adds a new server unless it is left out', async () => {
  const onChoose = shown(FIRST_CHOICES)
  expect(row().getByRole('button', { name: 'Add', pressed: true })).toBeDefined()
  await userEvent.click(row().getByRole('button', { name: 'Leave out' }))
  expect(onChoose).toHaveBeenCalledWith({ ...FIRST_CHOICES, leftOut: new Set(['new']) })
})

test('the import preview says what the setup loses with a server that is left out', () => {
  shown({ ...FIRST_CHOICES, leftOut: new Set(['new']) })
  expect(screen.getByText(/“new”, which is left out/)).toBeDefined()
  expect(screen.queryByText(/saved with a key/)).toBeNull()
})

test('the import preview shows why a server was refused, and that the rest is imported', () => {
  shown(FIRST_CHOICES, new Map([['new', 'link-local']]))
  expect(screen.getByRole('alert').textContent).toBe('link-local')
  expect(screen.getByRole('status').textContent).toBe('Not saved: new. Everything else that was selected is imported.')
})
