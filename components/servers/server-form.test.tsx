/** Tests of the texts and inputs of the server form. */
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { createRef } from 'react'
import { expect, test, vi } from 'vitest'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { EMPTY_DRAFT, type ServerDraft, serverDraftOf } from './server-draft.ts'
import { ServerForm } from './server-form.tsx'

const saved: ServerEntry = { name: 'gpu', baseUrl: 'http://10.0.0.1:30000', source: 'saved', hasKey: true }

interface Shown {
  readonly draft?: ServerDraft
  readonly of?: ServerEntry
  readonly field?: string
}

function show({ draft = EMPTY_DRAFT, of, field }: Shown, onSave = vi.fn()) {
  const onChange = vi.fn()
  render(
    <ServerForm
      draft={draft}
      saved={of}
      problem={field === undefined ? undefined : { message: 'the reason', field }}
      isSaving={false}
      first={createRef()}
      onChange={onChange}
      onSave={onSave}
      onCancel={() => {}}
    />,
  )
  return onChange
}

test.each([
  ['name', 'Name'],
  ['baseUrl', 'Base URL'],
  ['apiKey', 'API key'],
])('the server form shows a problem with %s at its field only', (field, label) => {
  show({ field })
  expect(screen.getByRole('form').querySelectorAll('[aria-invalid]')).toHaveLength(1)
  const input = screen.getByLabelText(label)
  expect(document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent).toBe('the reason')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('the server form can always be submitted, and the browser points at the field that is empty', async () => {
  const onSave = vi.fn()
  show({ draft: { ...EMPTY_DRAFT, name: 'gpu' } }, onSave)
  const save = screen.getByRole('button', { name: 'Save' }) as HTMLButtonElement
  expect(save.disabled).toBe(false)
  await userEvent.click(save)
  expect(onSave).not.toHaveBeenCalled()
  expect([...screen.getByRole('form').querySelectorAll(':invalid')]).toEqual([screen.getByLabelText('Base URL')])
})

test('the server form shows a problem without a field above the fields', () => {
  show({ field: 'body' })
  expect(screen.getByRole('alert').textContent).toContain('The reason')
})

test('the server form never shows the stored key, and can remove it', async () => {
  const draft = serverDraftOf(saved)
  const onChange = show({ draft, of: saved })
  expect((screen.getByLabelText('API key') as HTMLInputElement).value).toBe('')
  expect(screen.getByText('A key is stored for this origin. It is never shown.')).toBeTruthy()
  await userEvent.click(screen.getByLabelText('Remove the key'))
  expect(onChange).toHaveBeenCalledWith({ ...draft, removesKey: true })
})

test('the server form disables the field of a removed key, and names the key that another origin loses', () => {
  show({ draft: { ...serverDraftOf(saved), removesKey: true }, of: saved })
  expect((screen.getByLabelText('API key') as HTMLInputElement).disabled).toBe(true)
  show({ draft: { ...serverDraftOf(saved), baseUrl: 'http://10.0.0.2' }, of: saved })
  expect(screen.getByText(/The stored key belongs to http:\/\/10\.0\.0\.1:30000 and is removed/)).toBeTruthy()
})
