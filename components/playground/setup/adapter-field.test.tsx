import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { AdapterField } from './adapter-field.tsx'

const capabilities = ENGINE_CAPABILITIES.sglang
const ready = (more: Partial<Extract<ShownStatus, { state: 'ready' }>>): ShownStatus => ({
  state: 'ready',
  kind: 'server',
  latencyMs: 1,
  ...more,
})

function show(status: ShownStatus, adapter = '') {
  const chosen: string[] = []
  render(<AdapterField adapter={adapter} status={status} onChange={(name) => chosen.push(name)} />)
  return chosen
}
const names = () => screen.getAllByRole('option').map((option) => option.textContent)

test('the adapters that a server lists can be chosen, and none', async () => {
  const chosen = show(ready({ capabilities, adapters: ['math', 'code'] }))
  expect(names()).toEqual(['none', 'math', 'code'])
  await userEvent.selectOptions(screen.getByLabelText('LoRA adapter'), 'code')
  expect(chosen).toEqual(['code'])
})

test('an adapter that the server does not list is shown as missing', () => {
  show(ready({ capabilities, adapters: ['math'] }), 'gone')
  expect(names()).toEqual(['none', 'math', 'gone (missing)'])
})

test.each([['asking' as const], ['ready' as const]])(
  'a name can be typed for a server whose adapters are unknown (%s)',
  async (state) => {
    const chosen = show(state === 'asking' ? { state } : ready({ capabilities }))
    await userEvent.type(screen.getByRole('textbox', { name: 'LoRA adapter' }), 'm')
    expect(chosen).toEqual(['m'])
  },
)

test('a server without adapters has none to choose, with the reason, and a chosen one can be removed', async () => {
  const without = { ...capabilities, adapters: false }
  const { unmount } = render(<AdapterField adapter="" status={ready({ capabilities: without })} onChange={() => {}} />)
  expect(screen.getByRole<HTMLSelectElement>('combobox').disabled).toBe(true)
  expect(screen.getByText(/^SGLang runs without LoRA adapters here\. Choose no adapter/)).toBeDefined()
  unmount()
  const chosen = show(ready({ capabilities: without }), 'math')
  await userEvent.selectOptions(screen.getByRole('combobox'), '')
  expect(chosen).toEqual([''])
})
