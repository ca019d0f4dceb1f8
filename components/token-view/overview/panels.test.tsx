import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { Composer } from '#components/playground/prompt/composer.tsx'
import { EMPTY_PROMPT } from '#lib/share/settings/prompt-draft.ts'
import { RANGES } from '#lib/share/settings/setup.ts'
import type { PromptSegment, ResponseSegment, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Token, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withRatios } from '#testing/trainer-ratios.ts'
import { TokenCard } from '../card/token-card.tsx'
import { Origin } from './origin.tsx'
import { Outline } from './outline.tsx'
import { RunNotices } from './run-notices.tsx'
import { ToolCalls } from './tool-calls.tsx'
import { TrajectoryTotals } from './totals.tsx'

const card = (index: number, trajectory: TrajectoryView = sample) =>
  render(<TokenCard trajectory={trajectory} token={tokenAt(trajectory, index) as Token} state="pinned" />)
const fact = (name: string) =>
  screen.getByText(name, { selector: 'dt, dt *' }).closest('dt')?.nextElementSibling?.textContent

test('the token card shows all facts about a token', () => {
  card(6)
  expect([fact('id'), fact('bytes'), fact('text'), fact('loss mask'), fact('segment')]).toEqual([
    '10',
    '61 31',
    '"a1"',
    '1 · trained',
    '1 · response · token 3 (0–4)',
  ])
  expect([fact('position'), fact('message')]).toEqual(['6 (0–11)', '3 · assistant · call · token 0 (0–0)'])
  expect([fact('logprob'), fact('probability'), fact('rank')]).toEqual([
    '−1.0000 · sampled, T 0.7',
    '36.8 %',
    '1 of 2 recorded',
  ])
  expect(fact('span')).toBe('call 1 → arguments.a → call 2 (malformed)')
  expect(fact('entropy')).toBe('no data')
  expect(screen.getAllByRole('row')).toHaveLength(3)
  expect(screen.getByRole('row', { name: /all others/ }).textContent).toContain('49.7 %')
  expect(screen.getByRole('row', { name: /"a1" \(chosen\)/ })).toBeDefined()
})

test('the token card reports unknown values as unknown', () => {
  card(5)
  expect([fact('bytes'), fact('text'), fact('logprob'), fact('probability')]).toEqual([
    'A5',
    'part of a character',
    'unknown',
    'unknown',
  ])
})

test('the token card of an inserted token has a badge and its provenance, and names the logprob of its alternatives scored', () => {
  const forced: TrajectoryView = {
    ...sample,
    segments: [
      { kind: 'prompt', ids: [1], messages: [] },
      {
        kind: 'response',
        ids: [3, 4],
        mask: [0, 0],
        logprobs: [null, null],
        topLogprobs: { k: 2, ids: [5, 3, -1, -1], logprobs: [-0.5, -1.25, null, null] },
        forced: [{ start: 0, end: 2, as: 'alternative', instead: 5 }],
        thinks: [],
        toolCalls: [],
      },
    ],
  }
  const { unmount } = card(1, forced)
  expect(screen.getByRole('heading', { name: /^Token 1/ }).textContent).toBe('Token 1forced')
  expect([fact('loss mask'), fact('logprob')]).toEqual(['0 · forced', 'none sampled · −1.2500 scored'])
  expect(fact('provenance')).toMatch(/^forced: an alternative was chosen, for /)
  unmount()
  card(2, forced)
  expect(fact('logprob')).toBe('none sampled')
  render(<TrajectoryTotals trajectory={forced} />)
  expect(fact('forced (mask 0)')).toBe('2')
})

test('the token card of a token without alternatives says so', () => {
  card(0)
  expect(screen.getByText('No alternatives were requested.')).toBeDefined()
})

test('a tool call shows its arguments, result and raw text, and a malformed one its reason', async () => {
  const onSelect = vi.fn()
  render(<ToolCalls trajectory={sample} onSelect={onSelect} />)
  const [good, bad] = screen.getAllByRole('listitem') as [HTMLElement, HTMLElement]
  expect(within(good).getByText('add')).toBeDefined()
  expect(within(good).getByText('a:')).toBeDefined()
  expect(good.textContent).toContain('→ 4')
  expect(within(bad).getByText('Malformed: odd.')).toBeDefined()
  await userEvent.click(within(good).getByRole('button'))
  expect(onSelect).toHaveBeenCalledWith(6)
})

test('a tool call shows an argument of several lines, such as code, as lines', () => {
  const [prompt, response] = sample.segments as [PromptSegment, ResponseSegment]
  const [call] = response.toolCalls
  const input = { code: 'for i in range(2):\n    print("i", i)', other: 'a "b"' }
  const toolCalls = [{ ...call, kind: 'parsed', name: 'python', input } as ToolCall]
  render(<ToolCalls trajectory={{ ...sample, segments: [prompt, { ...response, toolCalls }] }} onSelect={() => {}} />)
  expect(screen.getByText(/for i in range/).textContent).toBe(input.code)
  expect(screen.getByText('"a \\"b\\""')).toBeDefined()
})

test('a list of many tool calls mounts only the visible ones', () => {
  const [prompt, response] = sample.segments as [PromptSegment, ResponseSegment]
  const calls = Array.from({ length: 100 }, (_, index) => ({ ...response.toolCalls[0], id: `call ${index}` }))
  const many = { ...sample, segments: [prompt, { ...response, toolCalls: calls as ResponseSegment['toolCalls'] }] }
  render(<ToolCalls trajectory={many} onSelect={() => {}} />)
  const mounted = within(screen.getByRole('list', { name: 'Tool calls' })).getAllByRole('listitem')
  expect(mounted.length).toBeGreaterThan(5)
  expect(mounted.length).toBeLessThan(30)
})

test('calls are unknown if a file has only ids, and are counted in its messages', () => {
  const { tokenizer: _, parser: __, ...model } = sample.model
  const reply = { kind: 'response', ids: [8], thinks: [], toolCalls: [] } as const
  const message = { content: '', tool_calls: [{ function: { name: 'add' } }] }
  const result = { kind: 'prompt', ids: [9], messages: [{ role: 'tool', content: '3' }] } as const
  const outcome = { kind: 'ended', reason: 'unknown' } as const
  const show = (segments: Trajectory['segments'], change: Partial<Trajectory> = {}) => {
    const trajectory = { ...sample, model, segments, outcome, ...change }
    const { container, unmount } = render(
      <>
        <TrajectoryTotals trajectory={trajectory} />
        <ToolCalls trajectory={trajectory} onSelect={() => {}} />
      </>,
    )
    const texts = [fact('tool calls'), container.querySelector('p')?.textContent]
    unmount()
    return texts
  }
  expect(show([reply])).toEqual(['unknown', 'Unknown: no parser has read the ids of the file.'])
  const inMessages = '1 tool call in the messages of the file. A tokenizer finds their tokens.'
  expect(show([{ ...reply, message }])).toEqual(['0 ✓ 0 ✗ · 1 result not recorded', inMessages])
  expect(show([{ ...reply, message }, result])).toEqual(['0 ✓ 0 ✗ · 1 result in the messages', inMessages])
  expect(show([{ ...reply, message: { content: 'hi' } }])).toEqual(['0 ✓ 0 ✗', 'No tool calls.'])
  expect(show([], { model: sample.model })).toEqual(['0 ✓ 0 ✗', 'No tool calls.'])
  expect(show([], { outcome: { kind: 'running' } })).toEqual(['0 ✓ 0 ✗', 'No tool calls yet.'])
})

test('totals show drift if the trajectory was checked for it', () => {
  const { rerender } = render(<TrajectoryTotals trajectory={sample} />)
  expect(screen.queryByText('drift', { selector: 'dt, dt *' })).toBeNull()
  rerender(<TrajectoryTotals trajectory={sample} driftSpans={null} />)
  expect(fact('drift')).toBe('—')
  rerender(<TrajectoryTotals trajectory={sample} driftSpans={1} />)
  expect(fact('drift')).toBe('1 span')
  rerender(<TrajectoryTotals trajectory={sample} driftSpans={0} />)
  expect(fact('drift')).toBe('0 spans')
})

test('a tool call that is running says so', () => {
  render(<ToolCalls trajectory={{ ...sample, live: { runningCalls: { call_0000: 'now' } } }} onSelect={() => {}} />)
  expect(screen.getByText('running…')).toBeDefined()
})

test('totals show the sampling parameters that the logprobs depend on', () => {
  render(<TrajectoryTotals trajectory={sample} />)
  expect(fact('sampled at')).toBe('T 0.7, top_p 0.9')
  expect(fact('tool calls')).toBe('1 ✓ 1 ✗ (1 malformed)')
  expect(fact('TITO check')).toBe('prefix exact ✓')
})

test('totals count tool calls without a recorded result once the run is over', () => {
  const segments = sample.segments.map((segment) =>
    segment.kind === 'response'
      ? { ...segment, toolCalls: segment.toolCalls.map(({ result: _, ...call }) => call) }
      : segment,
  ) as typeof sample.segments
  const { rerender } = render(<TrajectoryTotals trajectory={{ ...sample, segments }} />)
  expect(fact('tool calls')).toBe('0 ✓ 1 ✗ (1 malformed) · 1 result not recorded')
  rerender(<TrajectoryTotals trajectory={{ ...sample, segments, outcome: { kind: 'running' } }} />)
  expect(fact('tool calls')).toBe('0 ✓ 1 ✗ (1 malformed)')
})

test('A call whose result is only a message says so, in the totals and in its card', () => {
  const [prompt, response] = withRatios([{ ratios: [1] }]).segments
  if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('no segments')
  const span = { start: 0, end: 1 }
  const call = {
    kind: 'parsed',
    id: 'c',
    name: 'add',
    input: {},
    raw: 'add()',
    span,
    text: span,
    arguments: [],
  } as const
  const of = (role: 'tool' | 'user'): Trajectory => ({
    ...sample,
    provenance: { kind: 'import', format: 'messages', lacked: [] },
    segments: [
      { ...response, toolCalls: [call] },
      { ...prompt, messages: [role === 'tool' ? { role, content: '3' } : { role, content: 'go on' }] },
    ],
  })
  const shown = (trajectory: Trajectory) => (
    <>
      <TrajectoryTotals trajectory={trajectory} />
      <ToolCalls trajectory={trajectory} onSelect={() => {}} />
    </>
  )
  const { rerender } = render(shown(of('tool')))
  expect(fact('tool calls')).toBe('0 ✓ 0 ✗ · 1 result in the messages')
  expect(screen.getByText('result in the messages')).toBeDefined()
  rerender(shown(of('user')))
  expect(fact('tool calls')).toBe('0 ✓ 0 ✗ · 1 result not recorded')
  expect(screen.getByText('no recorded result')).toBeDefined()
})

test('totals report a template that does not preserve the prefix', () => {
  const prompt = {
    ...sample.segments[2],
    derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'broken', why: 'it counts' } },
  } as (typeof sample.segments)[number]
  render(<TrajectoryTotals trajectory={{ ...sample, segments: [prompt] }} />)
  expect(screen.getByText('template differs')).toBeDefined()
})

test('run notices report a template that leaves the tools out once', () => {
  const problem = { kind: 'template', message: 'The chat template does not print the tools.' }
  const segments = sample.segments.map((segment) => ({
    ...segment,
    problems: [problem, { kind: 'text', message: 'x' }],
  }))
  render(<RunNotices trajectory={{ ...sample, segments }} />)
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual([
    expect.stringContaining('does not print the tools'),
  ])
})

test('run notices report a dropped parameter and a changed model, and leave out problems of a single token', () => {
  const dropped = { kind: 'router', message: 'A router drops logit_bias.' }
  const segments = sample.segments.map((segment) => ({
    ...segment,
    problems: [dropped, { kind: 'number', message: 'odd' }],
  }))
  const problems = [{ kind: 'model', message: 'From token 3 on the model is n.' }]
  render(<RunNotices trajectory={{ ...sample, segments, problems }} />)
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual([
    expect.stringContaining('From token 3 on the model is n.'),
    expect.stringContaining('A router drops logit_bias.Use the address'),
  ])
})

test('a failed tool call is marked and its result is shown unchanged', () => {
  const segments = sample.segments.map((segment) =>
    segment.kind === 'response'
      ? {
          ...segment,
          toolCalls: segment.toolCalls.map((call) => ({
            ...call,
            result: { status: 'error', text: 'Error: no' } as const,
          })),
        }
      : segment,
  )
  render(<ToolCalls trajectory={{ ...sample, segments }} onSelect={() => {}} />)
  expect(screen.getAllByRole('listitem')[0]?.textContent).toMatch(/✗.*Error: no/)
})

test('a result that was cut names the setting as the playground does', () => {
  const result = { status: 'success', text: 'ab', wholeLength: 1000 } as const
  const segments = sample.segments.map((segment) =>
    segment.kind === 'response'
      ? { ...segment, toolCalls: segment.toolCalls.map((call) => ({ ...call, result })) }
      : segment,
  )
  render(<ToolCalls trajectory={{ ...sample, segments }} onSelect={() => {}} />)
  expect(screen.getAllByRole('listitem')[0]?.textContent).toContain(
    `2 of 1,000 characters: cut by the setting “${RANGES.maxResultCharacters.label}”.`,
  )
})

test('the outline selects the first token of a segment or span', async () => {
  const onSelect = vi.fn()
  render(<Outline trajectory={sample} selected={8} onSelect={onSelect} />)
  expect(screen.getByRole('treeitem', { name: /^result add ✓/ }).getAttribute('aria-current')).toBe('true')
  await userEvent.click(screen.getByRole('treeitem', { name: /^add ✓/ }))
  expect(onSelect).toHaveBeenCalledWith(6)
})

test('the outline lists the calls that only the message of a file has', () => {
  const { tokenizer: _, parser: __, ...model } = sample.model
  const message = { content: '', tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] }
  const segments = [{ kind: 'response' as const, ids: [1, 2], thinks: [], toolCalls: [], message }]
  const vocab = { '1': '<call>', '2': '{"a":1}' }
  render(<Outline trajectory={{ ...sample, model, segments, vocab }} selected={undefined} onSelect={() => {}} />)
  expect(screen.getByRole('treeitem', { name: /^add/ })).toBeTruthy()
})

test('the outline is a tree that the keyboard can operate', async () => {
  const onSelect = vi.fn()
  render(<Outline trajectory={sample} selected={undefined} onSelect={onSelect} />)
  await userEvent.tab()
  const focused = () => document.activeElement?.textContent
  expect(focused()).toContain('0 prompt')
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowRight}')
  expect(focused()).toMatch(/^think/)
  await userEvent.keyboard('{ArrowDown}{Enter}')
  expect(onSelect).toHaveBeenCalledWith(6)
  await userEvent.keyboard('{ArrowLeft}{ArrowLeft}')
  expect(focused()).toContain('1 response')
  expect(document.activeElement?.getAttribute('aria-expanded')).toBe('false')
  expect(screen.queryByRole('treeitem', { name: /^think/ })).toBeNull()
  await userEvent.keyboard('{End}')
  expect(focused()).toMatch(/^text/)
  await userEvent.keyboard('{Home}{ArrowUp}')
  expect(focused()).toContain('0 prompt')
})

test('the outline follows the visible tokens and shows what is folded', () => {
  const folds = { segments: new Set([2]), thinks: new Set([3]) }
  const outline = (start: number) => (
    <Outline trajectory={sample} selected={40} inSight={{ start, end: start + 4 }} folds={folds} onSelect={() => {}} />
  )
  const current = () => screen.getAllByRole('treeitem', { current: true }).map(({ textContent }) => textContent)
  const { rerender } = render(outline(3))
  expect(current()).toEqual([expect.stringMatching(/^think · folded/)])
  rerender(outline(7))
  expect(current()).toEqual([expect.stringContaining('1 response')])
  rerender(outline(8))
  expect(current()).toEqual([expect.stringMatching(/^result add ✓/)])
  expect(screen.getByRole('treeitem', { name: /2 tool result/ }).textContent).toContain('folded')
})

test('the token card lists the tokens that form one character', () => {
  card(4)
  expect(screen.getByText(/2 tokens form/).textContent).toContain('日')
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/token 4 .*E6 97$/),
    expect.stringMatching(/token 5 .*A5$/),
  ])
})

test('the token card shows a token of 20,000 characters completely', () => {
  const vocab = { ...sample.vocab, '3': 'x'.repeat(20_000) }
  card(1, { ...sample, vocab })
  expect(screen.getByRole('region', { name: 'Text of the token' }).textContent).toHaveLength(20_002)
  expect(screen.getByRole('region', { name: 'Bytes of the token' }).textContent).toHaveLength(59_999)
})

test('the token card lists a sampled token that is not among the alternatives', () => {
  const [prompt, response] = sample.segments as [PromptSegment, ResponseSegment]
  const topLogprobs = { k: 1, ids: [9, 3, 3, 3, 2], logprobs: [-0.5, -0.1, -0.1, -0.9, 0] }
  card(6, { ...sample, segments: [prompt, { ...response, topLogprobs }] })
  expect(fact('rank')).toBe('beyond 1')
  expect(screen.getByRole('row', { name: /"a1" \(chosen\)/ })).toBeDefined()
})

test('the composer sends by key, and only if there is a question and no run', async () => {
  const onSend = vi.fn()
  const props = {
    onChange: () => {},
    onSend,
    onStop: () => {},
    onStartOver: () => {},
    onAttach: () => {},
    isFirst: true,
    onPreview: () => new Promise<never>(() => {}),
    previewed: {},
  }
  const asking = (question: string) => ({ ...EMPTY_PROMPT, question })
  const { rerender } = render(<Composer {...props} draft={asking('hi')} state="ready" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Control>}{Enter}{/Control}')
  expect(onSend).toHaveBeenCalledOnce()
  rerender(<Composer {...props} draft={asking('  ')} state="ready" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Control>}{Enter}{/Control}')
  rerender(<Composer {...props} draft={asking('hi')} state="running" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Meta>}{Enter}{/Meta}')
  expect(onSend).toHaveBeenCalledOnce()
  expect(screen.getByRole('button', { name: 'Stop' })).toBeDefined()
})

test('totals name a tokenizer that was the server’s', () => {
  const { rerender } = render(<TrajectoryTotals trajectory={sample} />)
  expect(screen.queryByText('tokenizer', { selector: 'dt, dt *' })).toBeNull()
  const { model } = sample
  const tokenizer = { name: '/models/qwen', source: 'server', specialIds: [] } as const
  rerender(<TrajectoryTotals trajectory={{ ...sample, model: { ...model, tokenizer } }} />)
  expect(fact('tokenizer')).toBe('the server’s own, bytes as it decodes them')
})

test('the origin lists the repairs of a file, each with what can be done about it', () => {
  const repairs = [{ name: 'trailing-padding', message: '9 padding tokens at the end were removed.' }]
  const provenance = { kind: 'import', format: 'verl', lacked: [], repairs } as const
  const { rerender } = render(<Origin trajectory={{ ...sample, provenance }} />)
  expect(screen.getByText('Repaired: 1')).toBeDefined()
  expect(screen.getByText('9 padding tokens at the end were removed.')).toBeDefined()
  rerender(<Origin trajectory={{ ...sample, provenance }} repairAction={({ name }) => `Undo ${name}`} />)
  expect(screen.getByRole('listitem').textContent).toContain('removed. Undo trailing-padding')
})

test('the origin marks ids that a tokenizer encoded again, with the reason as the title of the badge', () => {
  const encodedAgain = { tokenizer: 'org/name', template: true, mask: 'every reply', caveats: ['The time is another.'] }
  const provenance = { kind: 'import', format: 'chat', lacked: [], missing: ['logprobs'], encodedAgain } as const
  render(<Origin trajectory={{ ...sample, provenance }} />)
  const [badge, ...others] = screen.getAllByRole('listitem')
  expect([badge?.textContent, badge?.title]).toEqual([
    'Re-encoded',
    'No model read or sampled these ids: org/name encoded the messages of the file. Trained: every reply. The time is another.',
  ])
  expect(others.map(({ textContent }) => textContent)).toEqual(['No logprobs'])
})

test('The origin of an imported sample names its group, and that of a run does not', () => {
  const group = { id: 'What is 25 * 17?', index: 1 }
  const { rerender } = render(
    <Origin trajectory={{ ...sample, group, provenance: { kind: 'import', format: 'verl', lacked: [] } }} />,
  )
  expect(document.body.textContent).toContain('sample 2 of the group What is 25 * 17?')
  rerender(<Origin trajectory={{ ...sample, group }} />)
  expect(document.body.textContent).not.toContain('of the group')
})

test('the origin shows what a file lacks as badges, with the effect as their title', () => {
  const provenance = { kind: 'import', format: 'verl', lacked: [], missing: ['ids', 'temperature'] } as const
  const { rerender } = render(<Origin trajectory={{ ...sample, provenance }} />)
  const badges = within(screen.getByRole('list', { name: 'Missing in the file' })).getAllByRole('listitem')
  expect(badges.map((badge) => [badge.textContent, badge.title])).toEqual([
    ['No token ids', 'The file has texts. The ids that the model sampled are unknown.'],
    ['No temperature', 'Logprobs cannot be converted between raw and processed.'],
  ])
  rerender(<Origin trajectory={sample} />)
  expect(screen.queryByRole('list', { name: 'Missing in the file' })).toBeNull()
})
