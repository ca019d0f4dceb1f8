import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { type ReactNode, useState } from 'react'
import { describe, expect, test, vi } from 'vitest'
import { MessagesForm } from './messages-form.tsx'
import { OptionsForm } from './options-form.tsx'
import { ToolsForm } from './tools-form.tsx'

type Form = (props: {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onText: () => void
}) => ReactNode

interface PageProps {
  readonly form: Form
  readonly begun: string
  readonly onText: () => void
  readonly seen: (text: string) => void
}

function Page({ form: Form, begun, onText, seen }: PageProps) {
  const [text, setText] = useState(begun)
  seen(text)
  return <Form text={text} onChange={setText} onText={onText} />
}

/** Renders a form over a text that lives outside, as on the page; `text()` returns the current text. */
function open(form: Form, begun: string) {
  const onText = vi.fn()
  const seen = vi.fn<(text: string) => void>()
  render(<Page {...{ form, begun, onText, seen }} />)
  return { text: () => seen.mock.lastCall?.[0] as string, onText, user: userEvent.setup() }
}

const TALK = `[
  {"role": "user", "content": "a", "weight": 1.0},
  {"role": "assistant", "content": "b", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1.0}}}]}
]`
const message = (number: number) => within(screen.getByRole('listitem', { name: `message ${number}` }))

describe('the form of messages', () => {
  test('changes only the value of the field that is typed in, and no other character of the JSON', async () => {
    const { text, user } = open(MessagesForm, TALK)
    await user.type(message(1).getByLabelText('content'), '"é')
    expect(text()).toBe(TALK.replace('"a"', '"a\\"é"'))
  })

  test('adds and removes reasoning and calls; with the last call the list is removed', async () => {
    const { text, user } = open(MessagesForm, TALK)
    await user.click(message(2).getByRole('button', { name: 'reasoning' }))
    await user.type(message(2).getByLabelText('reasoning_content'), 'r')
    await user.click(message(2).getByRole('button', { name: 'tool call' }))
    await user.type(within(message(2).getByRole('group', { name: 'call 2 of message 2' })).getByLabelText('calls'), 'g')
    expect(JSON.parse(text())[1]).toMatchObject({
      reasoning_content: 'r',
      tool_calls: [{ function: { name: 'f' } }, { function: { name: 'g', arguments: {} } }],
    })
    await user.click(message(2).getByRole('button', { name: 'Delete call 2 of message 2' }))
    await user.click(message(2).getByRole('button', { name: 'Delete call 1 of message 2' }))
    await user.click(message(2).getByRole('button', { name: 'Remove the reasoning of message 2' }))
    expect(JSON.parse(text())[1]).toEqual({ role: 'assistant', content: 'b' })
    expect(text()).toContain('1.0')
  })

  test('keeps invalid JSON in its field with the error until it is valid', async () => {
    const { text, user } = open(MessagesForm, TALK)
    const field = message(2).getByLabelText('arguments, JSON')
    await user.clear(field)
    await user.type(field, '{{"x": 2.0')
    expect(text()).toBe(TALK)
    expect(field).toHaveProperty('value', '{"x": 2.0')
    expect(message(2).getByText(/Expecting ',' delimiter: line 1, column 10/)).toBeDefined()
    await user.type(field, '}')
    expect(text()).toBe(TALK.replace('{"x": 1.0}', '{"x": 2.0}'))
  })

  test('keeps invalid JSON with its call, also if the call before it with the same arguments is deleted', async () => {
    const calls = '[{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {}}}]'
    const { user } = open(MessagesForm, `[{"role": "assistant", "content": "b", "tool_calls": ${calls}}]`)
    const written = () =>
      message(1)
        .getAllByLabelText<HTMLTextAreaElement>('arguments, JSON')
        .map(({ value }) => value)
    await user.type(message(1).getAllByLabelText('arguments, JSON')[0] as HTMLElement, 'x')
    expect(written()).toEqual(['{}x', '{}'])
    await user.click(message(1).getByRole('button', { name: 'Delete call 1 of message 1' }))
    expect(written()).toEqual(['{}'])
  })

  test('keeps invalid JSON in its message when the message is moved', async () => {
    const { user } = open(MessagesForm, TALK)
    await user.type(message(2).getByLabelText('arguments, JSON'), 'x')
    await user.click(message(2).getByRole('button', { name: 'Move message 2 up' }))
    expect(message(1).getByLabelText('arguments, JSON')).toHaveProperty('value', '{"x": 1.0}x')
  })

  test('moves a message by keyboard together with the focus', async () => {
    const { text, user } = open(MessagesForm, TALK)
    message(1).getByRole('combobox').focus()
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}')
    expect(JSON.parse(text()).map(({ role }: { readonly role: string }) => role)).toEqual(['assistant', 'user'])
    expect(document.activeElement).toBe(message(2).getByRole('combobox'))
  })

  test('adds, duplicates and deletes a message', async () => {
    const { text, user } = open(MessagesForm, TALK)
    await user.click(screen.getByRole('button', { name: 'tool' }))
    await user.type(message(3).getByLabelText('tool_call_id'), 'c')
    await user.click(message(1).getByRole('button', { name: 'Duplicate message 1' }))
    await user.click(message(3).getByRole('button', { name: 'Delete message 3' }))
    expect(JSON.parse(text())).toEqual([
      { role: 'user', content: 'a', weight: 1 },
      { role: 'user', content: 'a', weight: 1 },
      { role: 'tool', content: '', tool_call_id: 'c' },
    ])
  })

  test('names the fields that it does not know', () => {
    open(MessagesForm, TALK)
    expect(message(1).getByText('also in the JSON: weight')).toBeDefined()
  })

  test('says why a text cannot be read, and links to the JSON', async () => {
    const { onText, user } = open(MessagesForm, '[{"role": }]')
    expect(screen.getByText(/line 1, column 11: Expecting value/)).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Edit the JSON' }))
    expect(onText).toHaveBeenCalledOnce()
  })
})

test('the form of tools adds a tool with name, description and parameters', async () => {
  const { text, user } = open(ToolsForm, '')
  await user.click(screen.getByRole('button', { name: 'Add a tool' }))
  await user.type(screen.getByLabelText('name'), 'add')
  await user.type(screen.getByLabelText('description'), 'Adds.')
  const parameters = screen.getByLabelText('parameters, JSON Schema')
  await user.clear(parameters)
  await user.type(parameters, '{{}')
  expect(JSON.parse(text())).toEqual([
    { type: 'function', function: { name: 'add', description: 'Adds.', parameters: {} } },
  ])
})

test('the form of tools moves, adds and deletes a tool together with the focus', async () => {
  const { text, user } = open(ToolsForm, '[{"name": "a"}, {"name": "b"}, {"name": "c"}]')
  const names = () => JSON.parse(text()).map(({ name }: { readonly name: string }) => name)
  const field = (number: number) =>
    within(screen.getByRole('listitem', { name: `tool ${number}` })).getByLabelText('name')
  field(1).focus()
  await user.keyboard('{Alt>}{ArrowDown}{ArrowDown}{/Alt}')
  expect(names()).toEqual(['b', 'c', 'a'])
  expect(document.activeElement).toBe(field(3))
  await user.click(screen.getByRole('button', { name: 'Add a tool' }))
  expect(document.activeElement).toBe(field(4))
  await user.click(screen.getByRole('button', { name: 'Delete tool 4' }))
  expect(document.activeElement).toBe(field(3))
})

test('the form of options offers the names that the template reads, and accepts any other', async () => {
  const template = '{% if enable_thinking %}{{ date_string }}{% endif %}'
  const { text, user } = open((props) => <OptionsForm {...props} template={template} />, '{"x": 1.0}')
  await user.click(within(screen.getByRole('group', { name: 'enable_thinking' })).getByRole('button', { name: 'true' }))
  await user.click(screen.getByRole('button', { name: 'Set date_string' }))
  await user.type(screen.getByLabelText('Another option'), 'n')
  await user.clear(screen.getByLabelText('Value, JSON'))
  await user.type(screen.getByLabelText('Value, JSON'), '2.50')
  await user.click(screen.getByRole('button', { name: 'Add' }))
  expect(text()).toBe('{"x": 1.0, "enable_thinking": true, "date_string": "", "n": 2.50}')
  await user.click(screen.getByRole('button', { name: 'Remove n' }))
  expect(text()).toBe('{"x": 1.0, "enable_thinking": true, "date_string": ""}')
})
