import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MockTool } from '#lib/core/mock-tool.ts'
import { ToolsField } from './tools-field.tsx'

// jsdom has no modal dialogs.
beforeAll(() => {
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true
  }
  HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
    this.open = false
    this.dispatchEvent(new Event('close'))
  }
})

const tool = (name: string): MockTool => ({
  name,
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } },
})

let shown: { readonly tools: readonly string[]; readonly mockTools: readonly MockTool[] }
function Field({ tools = [] as readonly string[], mockTools = [] as readonly MockTool[], isFixed = false }) {
  const [chosen, setChosen] = useState({ tools, mockTools })
  shown = chosen
  return <ToolsField {...chosen} builtIn={[{ name: 'calculator' }]} isFixed={isFixed} onChange={setChosen} />
}

const user = userEvent.setup()
const press = (name: string | RegExp) => user.click(screen.getByRole('button', { name }))
const editor = () => screen.findByRole('dialog')
const type = async (label: string, text: string) => {
  const field = within(await editor()).getByLabelText(label)
  await user.clear(field)
  await user.click(field)
  fireEvent.change(field, { target: { value: text } })
}

describe('mock tools', () => {
  test('a new one is chosen as soon as it is saved', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await type('Name', 'forecast')
    await press(/^Save/)
    expect(shown.tools).toEqual(['forecast'])
    expect(shown.mockTools.map(({ name }) => name)).toEqual(['forecast'])
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  test('one under another name is chosen as it was', async () => {
    render(<Field tools={['a', 'calculator']} mockTools={[tool('a'), tool('b')]} />)
    await press('Edit a')
    await type('Name', 'b')
    expect(within(await editor()).getByText('there are two tools named "b"')).toBeDefined()
    await type('Name', 'c')
    await press(/^Save/)
    expect([shown.tools, shown.mockTools.map(({ name }) => name)]).toEqual([
      ['c', 'calculator'],
      ['c', 'b'],
    ])
  })

  test('a copy needs a name of its own', async () => {
    render(<Field mockTools={[tool('a')]} />)
    await press('Duplicate a')
    await editor()
    await press(/^Save/)
    expect(within(await editor()).getByRole('alert').textContent).toBe('Not saved yet: look at the name.')
    await type('Name', 'a2')
    await press(/^Save/)
    expect(shown.mockTools.map(({ name }) => name)).toEqual(['a', 'a2'])
  })

  test('one that is deleted is not chosen any more, and the focus is not lost', async () => {
    render(<Field tools={['a']} mockTools={[tool('a')]} />)
    await press('Delete a')
    expect(shown).toEqual({ tools: [], mockTools: [] })
    expect(document.activeElement?.textContent).toContain('Add a mock tool')
  })

  test('one named like a built-in tool takes its place, and gives it back', async () => {
    render(<Field tools={['calculator']} mockTools={[tool('calculator')]} />)
    expect(screen.getByText('The built-in calculator is replaced by the mock tool of that name.')).toBeDefined()
    expect(screen.getAllByRole('checkbox')).toHaveLength(1)
    await press('Delete calculator')
    expect(shown.tools).toEqual(['calculator'])
    expect(screen.getByRole('checkbox', { name: /calculator/ })).toHaveProperty('checked', true)
  })

  test('of an open trajectory are shown, and cannot be changed', async () => {
    render(<Field tools={['a', 'search']} mockTools={[tool('a')]} isFixed />)
    for (const box of screen.getAllByRole('checkbox')) expect(box).toHaveProperty('disabled', true)
    expect(screen.getByRole('checkbox', { name: 'search', description: /not known here/ })).toHaveProperty(
      'checked',
      true,
    )
    expect(screen.queryByRole('button', { name: /Edit|Delete|Add/ })).toBeNull()
    await press('Show a')
    const dialog = within(await editor())
    expect(dialog.getByLabelText('Name')).toHaveProperty('readOnly', true)
    expect(dialog.queryByRole('button', { name: /Save/ })).toBeNull()
  })
})

describe('the editor', () => {
  test('says at its line what is wrong with the schema', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await type('Arguments, JSON Schema', '{\n  "type": "object",\n  "required": "city"\n}')
    const field = within(await editor()).getByLabelText('Arguments, JSON Schema')
    expect(field.getAttribute('aria-invalid')).toBe('true')
    expect(screen.getByText('line 3: required: expected an array of names, found "city"')).toBeDefined()
  })

  test('shows what the model would read', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await editor()
    expect(screen.getByText('Sunny in city.')).toBeDefined()
    await type('Try it with arguments, JSON', '{"town": 1}')
    expect(screen.getByText('Sunny in [missing: city].')).toBeDefined()
    await type('Reply', '{{.}}')
    expect(screen.getByText('{"town":1}')).toBeDefined()
    await press('Canned')
    expect(screen.getByText('{{.}}', { selector: 'output' })).toBeDefined()
  })

  test('reads a tool in another form that is pasted', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await user.click(within(await editor()).getByLabelText('Name'))
    const parameters = { type: 'object', properties: { q: { type: 'string' } } }
    await user.paste(
      JSON.stringify({ type: 'function', function: { name: 'search', description: 'Finds.', parameters } }),
    )
    expect(screen.getByText('Filled from a tool in the form of OpenAI.')).toBeDefined()
    await press(/^Save/)
    expect(shown.mockTools).toMatchObject([{ name: 'search', description: 'Finds.', inputSchema: parameters }])
  })

  test('is saved by keyboard', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await user.click(within(await editor()).getByLabelText('Name'))
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(shown.mockTools).toHaveLength(1)
  })
})
