import { describe, expect, test, vi } from 'vitest'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { readTemplateUnderTest } from '../doctor.ts'
import type { Cell, CellFinding } from '../report.ts'
import { respells, steady, strips } from '../test-templates.ts'
import { recordedCells } from './recorded.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const stop = { kind: 'stop', matched: byteId('<|im_end|>') } as const
const add = '\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'

/** Records a rollout of `template`: pairs of new messages and the reply to them. */
function recorded(template: string, turns: readonly (readonly [readonly Message[], string])[]): Trajectory {
  const simulated = turns.map(([messages, text]) => ({
    messages,
    reply: byteTokenizer.encode(`${text}<|im_end|>`),
    finish: stop,
  }))
  return simulateRollout(template, simulated, { tools: [{ name: 'add', description: 'Adds.', inputSchema: {} }] })
    .trajectory
}

/** Checks a trajectory against a template with the tools that were recorded. */
function cellsOf(template: string, trajectory: Trajectory, options = {}): readonly Cell[] {
  const tools = JSON.stringify(
    trajectory.model.tools.map(({ name, description, inputSchema: parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  )
  const read = readTemplateUnderTest({ template, tools, options: JSON.stringify(options) }, bytes)
  if (!read.ok) throw new Error(read.error.message)
  return [...recordedCells(trajectory, read.value.subject, read.value.settings)]
}

const verdict = (cells: readonly Cell[], id: string) => cells.find((cell) => cell.id === id)?.verdict
function finding(cells: readonly Cell[], id: string): CellFinding {
  const found = verdict(cells, id)
  if (found?.kind !== 'unstable') throw new Error(`${id} is ${JSON.stringify(found)}`)
  return found.finding
}
/** Returns the text of a side from the first difference on. */
const textFrom = (found: CellFinding, side: 'expected' | 'rendered'): string =>
  found[side].tokens
    .slice(found.tokenIndex - found[side].start)
    .map(({ piece }) => piece)
    .join('')

const question = { role: 'user', content: 'How much?' } satisfies Message

test('a template that prints the date is checked with the date of the trajectory', () => {
  const dated = `{{- strftime_now('%d %b %Y') ~ '\n' -}}${steady}`
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(2024, 6, 4, 9) })
  const trajectory = { ...recorded(dated, [[[question], 'Two.']]), createdAt: new Date().toISOString() }
  vi.useRealTimers()
  expect(cellsOf(dated, trajectory).map(({ verdict: { kind } }) => kind)).toEqual(['stable', 'stable'])
  const unknown = { ...trajectory, createdAt: 'yesterday' }
  expect(cellsOf(dated, unknown).map(({ verdict: { kind } }) => kind)).toEqual(['unstable', 'unstable'])
})

describe('a recorded trajectory', () => {
  const trajectory = recorded(steady, [
    [[question], add + add],
    [
      [
        { role: 'tool', callId: 'call_0000', content: '2' },
        { role: 'tool', callId: 'call_0001', content: '2' },
      ],
      '<think>\nTwo.\n</think>\n\nIt is 2.',
    ],
    [[{ role: 'user', content: 'And now?' }], 'Still 2.'],
    [[{ role: 'system', content: 'Stop.' }], 'Bye.'],
  ])

  test('names the boundary after each reply by the messages that follow it', () => {
    expect(cellsOf(steady, trajectory).map(({ id, place }) => `${id} ${place.boundary}`)).toEqual([
      'turn-1/as-text parallel',
      'turn-1/as-parsed parallel',
      'turn-2/as-text user',
      'turn-2/as-parsed user',
      'turn-3/as-text system',
      'turn-3/as-parsed system',
      'turn-4/as-text end',
      'turn-4/as-parsed end',
    ])
  })

  test('is stable in both forms with a template that writes calls and thinking as the model did', () => {
    for (const cell of cellsOf(steady, trajectory)) expect([cell.id, cell.verdict.kind]).toEqual([cell.id, 'stable'])
  })

  test('shows the calls that a template writes otherwise, as parsed but not as text', () => {
    const cells = cellsOf(respells, trajectory)
    expect(finding(cells, 'turn-1/as-parsed').cause.kind).toBe('call-reserialised')
    expect(verdict(cells, 'turn-1/as-text')?.kind).toBe('stable')
  })

  test('shows the thinking that a template drops, as parsed but not as text', () => {
    const cells = cellsOf(strips, trajectory)
    expect(finding(cells, 'turn-2/as-parsed').cause.kind).toBe('thinking-stripped')
    expect(verdict(cells, 'turn-2/as-text')?.kind).toBe('stable')
  })

  test('keeps thinking in the content if the template has no field for it', () => {
    const cells = cellsOf(chatml, recorded(chatml, [[[question], '<think>\nTwo.\n</think>\n\nIt is 2.']]))
    expect(cells.map(({ id, verdict: { kind } }) => `${id} ${kind}`)).toEqual([
      'turn-1/as-text stable',
      'turn-1/as-parsed stable',
    ])
  })
})

describe('thinking of a recorded reply', () => {
  const opens = steady.replace("{{- '<|im_start|>assistant\\n' -}}", "{{- '<|im_start|>assistant\\n<think>\\n' -}}")

  test('that the generation prompt opened is compared without its missing delimiter', () => {
    const cells = cellsOf(
      opens,
      recorded(opens, [
        [[question], 'Two.\n</think>\n\nIt is 2.'],
        [[question], 'x'],
      ]),
    )
    expect(verdict(cells, 'turn-1/as-parsed')?.kind).toBe('stable')
    expect(finding(cells, 'turn-1/as-text').cause.kind).toBe('generation-prompt')
  })

  test('that never ends is compared up to the end of the reply', () => {
    const cells = cellsOf(
      steady,
      recorded(steady, [
        [[question], '<think>\nTwo'],
        [[question], 'x'],
      ]),
    )
    expect(textFrom(finding(cells, 'turn-1/as-parsed'), 'expected')).toMatch(/^<\|im_end\|>/)
    expect(textFrom(finding(cells, 'turn-1/as-parsed'), 'rendered')).toMatch(/^\n<\/think>\n\n<\|im_end\|>/)
  })
})

describe('messages of a recorded prompt', () => {
  const answered = (messages: readonly Message[]): Trajectory => {
    const trajectory = recorded(steady, [[[question], 'x']])
    const [prompt, ...rest] = trajectory.segments
    if (prompt?.kind !== 'prompt') throw new Error('the trajectory must begin with a prompt')
    return { ...trajectory, segments: [{ ...prompt, messages: [...messages] }, ...rest] }
  }
  const inParts = (content: Extract<Message, { role: 'assistant' }>['content']) =>
    cellsOf(steady, answered([{ role: 'user', content }]))

  test('are joined if their content is a list of texts', () => {
    const parts = [{ type: 'text', text: 'How ' }, { type: 'text', text: 'much?' }, { type: 'text' }]
    expect(verdict(inParts(parts), 'turn-1/as-text')?.kind).toBe('stable')
  })

  test('are not checked if a part is no text', () => {
    expect(verdict(inParts([{ type: 'image' }]), 'turn-1/as-parsed')).toEqual({
      kind: 'notApplicable',
      why: 'The conversation contains parts that are not text.',
    })
  })

  test('may be replies with calls and thinking that no response sampled', () => {
    const shots: Message[] = [
      question,
      { role: 'assistant', content: '', reasoning: 'Adds.', toolCalls: [{ id: 'a', name: 'add', input: { a: 1 } }] },
      { role: 'tool', callId: 'a', content: '2' },
      { role: 'assistant', content: 'It is 2.', toolCalls: [{ name: 'add', input: {} }] },
      { role: 'tool', content: 'loose' },
      question,
    ]
    const cells = cellsOf(steady, answered(shots))
    const messages = JSON.parse(finding(cells, 'turn-1/as-parsed').messages)
    expect(messages.slice(1, 5)).toEqual([
      {
        role: 'assistant',
        reasoning_content: 'Adds.',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: { a: 1 } } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '2' },
      {
        role: 'assistant',
        content: 'It is 2.',
        tool_calls: [{ id: '', type: 'function', function: { name: 'add', arguments: {} } }],
      },
      { role: 'tool', content: 'loose' },
    ])
  })
})

describe('a template that cannot render a recorded conversation', () => {
  const trajectory = recorded(steady, [
    [[question], 'x'],
    [[question], 'y'],
  ])
  const onceLong = (statement: string): string => `${steady}{%- if messages | length > 2 -%}${statement}{%- endif -%}`

  test('is not checked where it raises an exception', () => {
    const cells = cellsOf(onceLong("{{- raise_exception('too long') -}}"), trajectory)
    expect(verdict(cells, 'turn-2/as-text')).toEqual({
      kind: 'notApplicable',
      why: 'The template raises an error: too long',
    })
  })

  test('has the error where it fails', () => {
    const cells = cellsOf(onceLong('{{- nothing.at.all -}}'), trajectory)
    expect(verdict(cells, 'turn-2/as-text')).toMatchObject({
      kind: 'error',
      failure: { className: 'UndefinedError', message: "'nothing' is undefined" },
    })
  })
})

test('a recorded prompt that does not end with the generation prompt is history as a whole', () => {
  const other = steady
    .replace("'<|im_start|>assistant\\n' -}}", "'<|im_start|>model\\n' -}}")
    .replace('{%- for message', "{%- if add_generation_prompt -%}{{- 'Go.\\n' -}}{%- endif -%}{%- for message")
  const found = finding(
    cellsOf(
      other,
      recorded(steady, [
        [[question], 'x'],
        [[question], 'y'],
      ]),
    ),
    'turn-1/as-text',
  )
  expect(found.cause.kind).toBe('system-changed')
})
