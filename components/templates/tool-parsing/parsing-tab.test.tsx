import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ServerParsing, ServerQuestion } from '#lib/api/server-parsing.ts'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { type RunTask, tasks } from '#lib/templates/tasks/tasks.ts'
import { kimiTemplate, xmlTemplate } from '#lib/templates/tool-parsing/test-templates.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { ParsingTab } from './parsing-tab.tsx'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (template) => chatTemplate(template, {}) }

/** Runs the tasks of the worker in this thread. */
const run = (async (name: keyof typeof tasks, request: never, { tokenizers, onProgress }: Parameters<RunTask>[2]) => {
  const task = tasks[name]
  const start = 'load' in task ? await task.load() : task
  const steps = start(request, tokenizers.length > 0 ? [bytes] : []) as Generator<never, unknown>
  for (;;) {
    const step = steps.next()
    if (step.done) return structuredClone(step.value)
    onProgress?.(step.value)
  }
}) as unknown as RunTask

interface Setting {
  readonly template?: string
  readonly tokenizer?: string
  readonly trajectory?: Trajectory
  readonly answer?: ServerParsing | Error
  readonly kept?: string
}

function open({ template = xmlTemplate, tokenizer = 'bytes', trajectory, answer, kept = '' }: Setting = {}) {
  const keeping: string[] = []
  const asked: { server: string; question: ServerQuestion }[] = []
  const lines: number[] = []
  const tab = (shown: string) => (
    <ParsingTab
      input={{
        template: shown,
        messages: '[{"role": "user", "content": "q"}]',
        tools:
          '[{"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}}]',
        options: '',
      }}
      tokenizer={tokenizer}
      server="built-in"
      serverProblem={undefined}
      trajectory={trajectory}
      run={run}
      cursorLine={undefined}
      revisions={[]}
      shown={1}
      view={{}}
      onView={() => {}}
      onLine={(line) => lines.push(line)}
      onTemplate={() => {}}
      onMessages={() => {}}
      onCheck={() => Promise.reject(new Error('nobody checks'))}
      servers={['built-in', 'gpu', 'vllm']}
      serverRefusals={{ vllm: 'vLLM parses no given texts.' }}
      kept={kept}
      onKeep={(text) => keeping.push(text)}
      askServer={async (server, question) => {
        asked.push({ server, question })
        if (answer instanceof Error || !answer) throw answer ?? new Error('nobody answers')
        return answer
      }}
    />
  )
  const { rerender } = render(tab(template))
  return { user: userEvent.setup(), asked, lines, keeping, change: (changed: string) => rerender(tab(changed)) }
}

const type = async (user: ReturnType<typeof userEvent.setup>, text: string) => {
  const box = screen.getByRole('textbox', { name: /^Completion/ })
  await user.clear(box)
  await user.click(box)
  await user.paste(text)
}
const lane = (name: string) => screen.getByRole('region', { name })
const parts = (name: string, part: string) =>
  Array.from(lane(name).querySelectorAll(`[data-part="${part}"]`), ({ textContent }) => textContent)

const XML = '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>'
const HERMES = 'So: <tool_call>{"name": "add", "id": 7, "arguments": {"a": "x"}}</tool_call>'

test('the parser lab without a completion says what to do and which parser matches the template', async () => {
  open()
  expect(screen.getByPlaceholderText(/Paste a completion/)).toBeDefined()
  expect(await screen.findByText(/^qwen_xml fits: it reads both calls/)).toBeDefined()
  expect(screen.queryByRole('region', { name: 'hermes' })).toBeNull()
})

test('the parser lab scores a pasted completion at once, and ranks by the template if it has no calls', async () => {
  const { user } = open({ template: kimiTemplate })
  await type(user, HERMES)
  expect(await screen.findByText(/^The template suggests kimi_k2, but hermes reads the completion best/)).toBeDefined()
  expect(screen.queryByRole('button', { name: /^By/ })).toBeNull()
  await type(user, 'No call.')
  expect(
    await screen.findByText(/^kimi_k2 fits: it reads both calls.* No parser finds a call in the completion\.$/),
  ).toBeDefined()
})

test('the parser lab has a lane per parser with parts, dropped text with the reason, and typed arguments', async () => {
  const { user } = open()
  await type(user, HERMES)
  await waitFor(() => expect(parts('hermes', 'name')).toEqual(['"add"']))
  expect(parts('hermes', 'value')).toEqual(['"x"'])
  expect(parts('hermes', 'dropped')).toEqual(['"id": 7'])
  expect(within(lane('hermes')).getByRole('list', { name: 'Dropped silently' }).textContent).toContain(
    '"id": 7 – an unused member',
  )
  const row = within(within(lane('hermes')).getByRole('table')).getByRole('row', { name: /^a / })
  expect(row.textContent).toBe('astring ≠ integer"x"')
  expect(screen.queryByRole('region', { name: 'kimi_k2' })).toBeNull()
  expect(within(lane('qwen_xml')).getByText(/Line 1, column 16: "{" where <function= is expected\./)).toBeDefined()
  expect(lane('glm').textContent).toContain('hermes reads 1 more')
})

test('the parser lab shows a caret under the character of an error', async () => {
  const { user } = open()
  await type(user, 'é\n<tool_call>\n{"name": add}\n</tool_call>')
  const frame = await waitFor(() => {
    const found = lane('hermes').querySelector('figure pre')
    if (!found) throw new Error('no frame')
    return found
  })
  const [line = '', caret = ''] = (frame.textContent ?? '').split('\n')
  expect(line).toBe('{"name": add}')
  expect(line[caret.indexOf('^')]).toBe('a')
  expect(lane('hermes').querySelector('[data-fault]')?.textContent).toBe('a')
})

test('the parser lab shows the parsers that are chosen by chips', async () => {
  const { user } = open()
  await type(user, HERMES)
  await user.click(await screen.findByRole('button', { name: /^glm/ }))
  expect(screen.queryByRole('region', { name: 'glm' })).toBeNull()
  await user.click(screen.getByRole('button', { name: /^kimi_k2/ }))
  expect(lane('kimi_k2').textContent).toContain('no calls')
  for (const name of ['hermes', 'qwen_xml', 'kimi_k2'])
    await user.click(screen.getByRole('button', { name: new RegExp(`^${name}`) }))
  expect(screen.getByText('No parser is chosen.')).toBeDefined()
})

test('the parser lab renders each call with the template: equal, different with its line, or missing', async () => {
  const { user, lines } = open()
  await type(user, XML)
  expect(
    await within(await screen.findByRole('region', { name: 'qwen_xml' })).findByText(/writes the same/),
  ).toBeDefined()
  await type(user, XML.replace('\n1\n', '1'))
  expect(await screen.findByText(/writes other tokens from the .* on: white space\./)).toBeDefined()
  await user.click(screen.getByRole('button', { name: /^Line \d+$/ }))
  expect(xmlTemplate.split('\n')[(lines[0] ?? 0) - 1]).toContain("'<parameter='")
})

test('the parser lab parses without a tokenizer', async () => {
  const { user } = open({ tokenizer: '' })
  await type(user, XML)
  await waitFor(() => expect(parts('qwen_xml', 'value')).toEqual(['1']))
  expect(document.querySelector('[data-rerendered]')).toBeNull()
})

test('the parser lab offers the completions of a file, and ranks the parsers by them and the template', async () => {
  const { user } = open({ template: kimiTemplate })
  const file = new File(
    [['x', HERMES, HERMES].map((text) => JSON.stringify({ completion: text })).join('\n')],
    'runs.jsonl',
  )
  await user.upload(screen.getByLabelText('File of completions'), file)
  const pick = await screen.findByLabelText('Pick')
  await user.selectOptions(pick, within(pick).getByRole('option', { name: /^line 2/ }))
  expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Completion: line 2' }).value).toBe(HERMES)
  await user.click(screen.getByRole('button', { name: 'Score with my 3 completions' }))
  expect(await screen.findByText(/^The template suggests kimi_k2, but hermes reads the completions best/)).toBeDefined()
  await user.click(screen.getByRole('button', { name: 'Score with this completion' }))
  expect(await screen.findByText(/^The template suggests kimi_k2, but hermes reads the completion best/)).toBeDefined()
  await user.upload(screen.getByLabelText('File of completions'), new File(['{"a": 1}'], 'odd.json'))
  expect((await screen.findByRole('alert')).textContent).toBe('odd.json contains no completions.')
})

test('the scores of many completions are not shown for another template', async () => {
  const { user, change } = open({ template: kimiTemplate })
  const lines = [HERMES, HERMES].map((text) => JSON.stringify({ completion: text }))
  await user.upload(screen.getByLabelText('File of completions'), new File([lines.join('\n')], 'runs.jsonl'))
  await user.click(await screen.findByRole('button', { name: 'Score with my 2 completions' }))
  expect(await screen.findByText(/^The template suggests kimi_k2, but hermes reads the completions best/)).toBeDefined()
  change(xmlTemplate)
  expect(screen.queryByText(/kimi_k2, but hermes reads the completions best/)).toBeNull()
  expect(await screen.findByText(/^The template suggests qwen_xml, but hermes reads the completion best/)).toBeDefined()
})

test('the parser lab offers the responses of the open trajectory, and shows the first with a call', async () => {
  open({ trajectory: exampleTrajectory('tool-error') })
  expect(screen.getByRole('textbox', { name: /^Completion: response \d+$/ })).toBeDefined()
  expect(within(screen.getByLabelText('Pick')).getAllByRole('option').length).toBeGreaterThan(2)
  expect(parts('hermes', 'name').length).toBeGreaterThan(0)
})

test('the parser lab compares the server’s own parsers with ours: calls, and text that the server drops', async () => {
  const { user, asked } = open({
    answer: {
      toolCalls: { state: 'answered', parser: 'qwen25', normalText: '', calls: [] },
      reasoning: { state: 'answered', parser: 'qwen3', reasoning: 'hm', text: '' },
    },
  })
  await type(user, HERMES)
  await user.selectOptions(screen.getByLabelText('Server'), 'gpu')
  await user.type(screen.getByLabelText('Tool-call parser'), 'qwen25')
  await user.click(screen.getByRole('button', { name: 'Parse on the server' }))
  expect(await screen.findByText(/reads 0 calls, beside hermes here/)).toBeDefined()
  expect(Array.from(document.querySelectorAll('[data-server-dropped] code'), (code) => code.textContent)).toEqual([
    'So:',
    HERMES.slice(4),
  ])
  expect(asked).toMatchObject([
    { server: 'gpu', question: { text: HERMES, toolCallParser: 'qwen25', parser: 'hermes', tools: [{ name: 'add' }] } },
  ])
})

test('the parser lab notes a server without parser endpoints, and reports an unreachable server as an error', async () => {
  const { user } = open({ answer: { toolCalls: { state: 'absent' }, reasoning: { state: 'not-asked' } } })
  await type(user, HERMES)
  await user.click(screen.getByRole('button', { name: 'Parse on the server' }))
  expect((await screen.findByText(/does not parse tool calls itself/)).textContent).toBe(
    'built-in does not parse tool calls itself: it has no /parse_function_call.',
  )
  expect(screen.getByText(/was not requested thinking/)).toBeDefined()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('the parser lab is disabled for a server without parsers of given texts, with the reason', async () => {
  const { user } = open()
  await type(user, HERMES)
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Parse on the server' })
  expect(button.disabled).toBe(false)
  await user.selectOptions(screen.getByRole('combobox', { name: 'Server' }), 'vllm')
  expect(button.disabled).toBe(true)
  expect(screen.getByText('vLLM parses no given texts.')).toBeDefined()
})

test('the parser lab says what cannot be requested from the server', async () => {
  const { user } = open({ answer: new Error('Rollscope’s own server does not answer.') })
  await type(user, HERMES)
  await user.click(screen.getByRole('button', { name: 'Parse on the server' }))
  expect((await screen.findByRole('alert')).textContent).toContain('does not answer')
})

test('the parser lab restores the last completion', async () => {
  const { user, keeping } = open({ kept: HERMES })
  expect(parts('hermes', 'name')).toEqual(['"add"'])
  await type(user, XML)
  expect(keeping.at(-1)).toBe(XML)
})
