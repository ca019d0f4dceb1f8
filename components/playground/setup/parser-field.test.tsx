import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { ParserField } from './parser-field.tsx'

const choices = { parsers: ['hermes', 'llama3'], defaultParser: 'hermes' }
const ready = (toolCallParser?: string): ShownStatus => ({
  state: 'ready',
  kind: 'server',
  latencyMs: 1,
  ...(toolCallParser !== undefined && { toolCallParser }),
})

test.each([
  [
    ready('qwen25'),
    '',
    'as reported by the server: hermes',
    /^Suggested: hermes, because the server runs with qwen25\.$/,
  ],
  [
    ready('qwen25'),
    '<|python_tag|>',
    'as reported by the server: hermes',
    /though the chat template contains <\|python_tag\|>/,
  ],
  [
    ready(),
    '<|python_tag|>',
    'as the chat template suggests: llama3',
    /^Suggested: llama3, because the chat template contains/,
  ],
  [ready(), '', 'as the chat template suggests', /otherwise hermes, because the server reports none\.$/],
  [ready('beam'), '', 'as the chat template suggests', /because the server’s beam is not supported here\.$/],
])('the parser field suggests a parser with the reason, case %#', (status, chatTemplate, option, note) => {
  render(<ParserField parser="" chatTemplate={chatTemplate} status={status} choices={choices} onChange={() => {}} />)
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([option, 'hermes', 'llama3'])
  expect(screen.getByText(note)).toBeDefined()
})

test('the parser field suggests no parser before the server has answered, and allows a choice', async () => {
  const onChange = vi.fn()
  render(
    <ParserField
      parser=""
      chatTemplate=""
      status={{ state: 'starting' } as ShownStatus}
      choices={choices}
      onChange={onChange}
    />,
  )
  expect(screen.queryByText(/^Suggested/)).toBeNull()
  await userEvent.selectOptions(screen.getByLabelText('Tool-call parser'), 'llama3')
  expect(onChange).toHaveBeenCalledWith('llama3')
})
