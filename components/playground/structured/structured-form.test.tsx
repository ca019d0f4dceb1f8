import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { type StructuredDialogProps, StructuredForm } from './structured-form.tsx'

const SCHEMA = '{"type": "object", "properties": {"even": {"type": "boolean"}}}'
const reply = {
  value: { even: true },
  text: '{"even":true}',
  problem: undefined,
  promptTokens: 90,
  completionTokens: 5,
}

function openDialog(given: Partial<StructuredDialogProps> = {}) {
  const props: StructuredDialogProps = {
    prompt: 'Is it even?',
    schema: SCHEMA,
    onEdit: vi.fn(),
    onAsk: vi.fn<StructuredDialogProps['onAsk']>(async () => ({ kind: 'answered', reply })),
    onRecord: vi.fn(),
    onClose: vi.fn(),
    ...given,
  }
  render(<StructuredForm {...props} />)
  return { props, user: userEvent.setup() }
}

const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

test.each<[string, Partial<StructuredDialogProps>, RegExp | undefined]>([
  ['the schema is not JSON', { schema: '{' }, /JSON/],
  ['the schema is of no known type', { schema: '{"type": "objct"}' }, /expected one of string/],
  ['there is no question', { prompt: ' ' }, undefined],
])('structured output cannot be requested where %s', (_what, given, error) => {
  openDialog(given)
  expect(button('Request').disabled).toBe(true)
  if (error) expect(screen.getByLabelText('JSON Schema of an object').parentElement?.textContent).toMatch(error)
})

test('an answer that fits the schema is shown as JSON, and the trajectory is unchanged', async () => {
  const { props, user } = openDialog()
  await user.click(button('Request'))
  expect(props.onAsk).toHaveBeenCalledExactlyOnceWith('Is it even?', JSON.parse(SCHEMA))
  const answer = await screen.findByRole('region', { name: 'Answer' })
  expect(answer.querySelector('pre')?.textContent).toBe('{\n  "even": true\n}')
  expect(answer.textContent).toContain('The answer matches the schema.')
  expect(answer.textContent).toContain('90 tokens read, 5 written')
  expect(props.onRecord).not.toHaveBeenCalled()
})

test('a request that waits for its answer keeps the focus on its button, which does nothing meanwhile', async () => {
  const answer = Promise.withResolvers<{ kind: 'answered'; reply: typeof reply }>()
  const { props, user } = openDialog({ onAsk: vi.fn(() => answer.promise) })
  await user.click(button('Request'))
  await user.click(button('Requesting…'))
  expect(document.activeElement).toBe(button('Requesting…'))
  expect(button('Requesting…').disabled).toBe(false)
  expect(button('Requesting…').getAttribute('aria-disabled')).toBe('true')
  expect(props.onAsk).toHaveBeenCalledOnce()
  answer.resolve({ kind: 'answered', reply })
  expect(await screen.findByRole('region', { name: 'Answer' })).toBeTruthy()
  expect(document.activeElement).toBe(button('Request'))
})

test('an answer that does not fit the schema is shown as text, with the reason', async () => {
  const unfit = { ...reply, value: undefined, text: '{"even"', problem: 'it ends too early' }
  const { user } = openDialog({ onAsk: async () => ({ kind: 'answered', reply: unfit }) })
  await user.click(button('Request'))
  const answer = await screen.findByRole('region', { name: 'Answer' })
  expect(answer.querySelector('pre')?.textContent).toBe('{"even"')
  expect(answer.textContent).toContain('The answer does not match the schema: it ends too early.')
})

test('a refusal of structured output is shown with what to do', async () => {
  const refused = { kind: 'refused', message: 'nobody listens there', hint: 'Start the server.' } as const
  const { user } = openDialog({ onAsk: async () => refused })
  await user.click(button('Request'))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Nobody listens there')
  expect(alert.textContent).toContain('Start the server.')
})

test('structured output that is recorded becomes a turn of the run in place of an answer in the dialog', async () => {
  const { props, user } = openDialog()
  await user.click(screen.getByLabelText(/Add as a next turn/))
  await user.click(button('Request and add'))
  expect(props.onRecord).toHaveBeenCalledExactlyOnceWith('Is it even?', SCHEMA)
  expect(props.onAsk).not.toHaveBeenCalled()
})
