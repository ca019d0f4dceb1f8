import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { describe, expect, test } from 'vitest'
import type { Setup } from '#lib/share/settings/setup.ts'
import { CALCULATOR_SPEC } from '#lib/tools/calculator-spec.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import { PYTHON_SPEC } from '#lib/tools/python-spec.ts'
import { BUILT_IN_TOOLS, ToolsField } from './tools-field.tsx'

const tool = (name: string): MockTool => ({
  name,
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } },
})

let shown: Pick<Setup, 'tools' | 'mockTools' | 'mcpTools'>
function Field({
  tools = [] as readonly string[],
  mockTools = [] as readonly MockTool[],
  mcpTools = [] as Setup['mcpTools'],
  isFixed = false,
}) {
  const [chosen, setChosen] = useState<typeof shown>({ tools, mockTools: [...mockTools], mcpTools: [...mcpTools] })
  shown = chosen
  return (
    <ToolsField
      {...chosen}
      builtIn={[{ name: 'calculator' }]}
      isFixed={isFixed}
      onChange={(changed) => setChosen({ ...chosen, ...changed })}
      mcpServers={<button type="button">MCP</button>}
    />
  )
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

describe('the built-in tools of the tools field', () => {
  const builtIn = [
    { name: 'python', description: 'Run Python 3.14: no network. The rest is for the model.' },
    { name: 'browser', description: 'Browse.', off: 'there is none' },
  ]
  const list = (tools: readonly string[], onChange: (chosen: Partial<Setup>) => void = () => {}) =>
    render(
      <ToolsField
        tools={tools}
        mockTools={[]}
        mcpTools={[]}
        mcpServers={null}
        builtIn={builtIn}
        isFixed={false}
        onChange={onChange}
      />,
    )

  test('have the names and first sentences of their specifications until the server has reported them', () => {
    const first = (text: string | undefined) => text?.split(/(?<=\.) /)[0]
    expect(BUILT_IN_TOOLS).toEqual(
      [CALCULATOR_SPEC, PYTHON_SPEC].map(({ name, description }) => ({ name, description: first(description) })),
    )
  })

  test('are listed with the first sentence of their description', () => {
    list([])
    expect(screen.getByText('Run Python 3.14: no network.')).toBeDefined()
  })

  test('say why they are off; a tool that is off can be removed but not chosen', async () => {
    const { unmount } = list([])
    expect(screen.getByText('off: there is none')).toBeDefined()
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'browser' }).disabled).toBe(true)
    unmount()
    let tools: readonly string[] = []
    list(['python', 'browser'], (chosen) => {
      tools = chosen.tools ?? []
    })
    await user.click(screen.getByRole('checkbox', { name: 'browser' }))
    expect(tools).toEqual(['python'])
  })
})

describe('mock tools of the tools field', () => {
  test('are chosen as soon as a new one is saved', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await type('Name', 'forecast')
    await press(/^Save/)
    expect(shown.tools).toEqual(['forecast'])
    expect(shown.mockTools.map(({ name }) => name)).toEqual(['forecast'])
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  test('stay chosen or not when they are renamed', async () => {
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

  test('need another name for a copy', async () => {
    render(<Field mockTools={[tool('a')]} />)
    await press('Duplicate a')
    await editor()
    await press(/^Save/)
    expect(within(await editor()).getByRole('alert').textContent).toBe('Not saved yet: check the name.')
    await type('Name', 'a2')
    await press(/^Save/)
    expect(shown.mockTools.map(({ name }) => name)).toEqual(['a', 'a2'])
  })

  test('are no longer chosen after they are deleted, and the focus is kept', async () => {
    render(<Field tools={['a']} mockTools={[tool('a')]} />)
    await press('Delete a')
    expect(shown).toEqual({ tools: [], mockTools: [], mcpTools: [] })
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Add a mock tool')
  })

  test('replace a built-in tool of the same name, which returns when they are deleted', async () => {
    render(<Field tools={['calculator']} mockTools={[tool('calculator')]} />)
    expect(screen.getByText('The built-in calculator is replaced by the mock tool of that name.')).toBeDefined()
    expect(screen.getAllByRole('checkbox')).toHaveLength(1)
    await press('Delete calculator')
    expect(shown.tools).toEqual(['calculator'])
    expect(screen.getByRole('checkbox', { name: /calculator/ })).toHaveProperty('checked', true)
  })

  test('are shown for an open trajectory and cannot be changed', async () => {
    render(<Field tools={['a', 'search']} mockTools={[tool('a')]} isFixed />)
    for (const box of screen.getAllByRole('checkbox')) expect(box).toHaveProperty('disabled', true)
    expect(screen.getByRole('checkbox', { name: 'search', description: /unknown here/ })).toHaveProperty(
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

describe('the editor of a mock tool', () => {
  test('reports an error of the schema with its line', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await type('Arguments, JSON Schema', '{\n  "type": "object",\n  "required": "city"\n}')
    const field = within(await editor()).getByLabelText('Arguments, JSON Schema')
    expect(field.getAttribute('aria-invalid')).toBe('true')
    expect(screen.getByText('line 3: required: expected an array of names, found "city"')).toBeDefined()
    await type('Arguments, JSON Schema', '{\n  "type": "object",\n  "properties": {"city": {"type": "strin"}}\n}')
    expect(screen.getByText(/line 3: properties\.city\.type: expected one of string, number/)).toBeDefined()
    await type('Arguments, JSON Schema', '{\n  "type": "object"\n  "properties": {}\n}')
    expect(screen.getByText(/line 3: """ where "," or "}" is expected/)).toBeDefined()
  })

  test('does not save a tool without a name, and says so', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await user.clear(within(await editor()).getByLabelText('Name'))
    await press(/^Save/)
    expect(within(await editor()).getByRole('alert').textContent).toContain('Not saved yet')
    expect(shown.mockTools).toEqual([])
  })

  test('shows the text that the model would read', async () => {
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

  test('reads a pasted tool in the form of another program', async () => {
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

  test('saves by keyboard', async () => {
    render(<Field />)
    await press('Add a mock tool')
    await user.click(within(await editor()).getByLabelText('Name'))
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(shown.mockTools).toHaveLength(1)
  })
})

describe('tools of other origins in the tools field', () => {
  test('from an MCP server are chosen and removed like the others', async () => {
    render(<Field mcpTools={[{ mcp: 'search', name: 'lookup' }]} />)
    await user.click(screen.getByRole('checkbox', { name: 'lookup', description: 'MCP · search' }))
    expect(shown).toEqual({ tools: ['lookup'], mockTools: [], mcpTools: [{ mcp: 'search', name: 'lookup' }] })
    expect(screen.queryByText(/unknown here/)).toBeNull()
  })

  test('from an import become chosen mock tools; the dialog says why a tool cannot be imported', async () => {
    render(<Field mockTools={[tool('taken')]} />)
    await press('Import…')
    const tools = [
      { type: 'function', function: { name: 'ping', description: 'Pings.' } },
      { name: 'taken', inputSchema: { type: 'object' } },
      { name: 'a b', inputSchema: { type: 'object' } },
      { name: 'left', inputSchema: { type: 'object' } },
    ]
    await type('Tools, JSON', JSON.stringify(tools))
    const dialog = within(await editor())
    expect(dialog.getByRole('checkbox', { name: /^taken/ })).toHaveProperty('disabled', true)
    expect(dialog.getByText(/there are two tools named "taken"/)).toBeTruthy()
    expect(dialog.getByText(/^name: expected a name of 1 to 64 letters/)).toBeTruthy()
    await user.click(dialog.getByRole('checkbox', { name: /^left/ }))
    await user.click(dialog.getByRole('button', { name: 'Import one tool' }))
    expect(shown.tools).toEqual(['ping'])
    expect(shown.mockTools[1]).toEqual({
      name: 'ping',
      description: 'Pings.',
      inputSchema: { type: 'object', properties: {} },
      mock: { reply: { kind: 'canned', text: '{"status": "ok"}' } },
    })
  })
})
