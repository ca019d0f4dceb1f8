import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { sampleTrajectory as sample } from '#lib/core/sample-trajectory.ts'
import { type Token, tokenAt } from '#lib/core/tokens.ts'
import { Composer } from '../playground/composer.tsx'
import { Outline } from './outline.tsx'
import { RunNotices } from './run-notices.tsx'
import { TokenCard } from './token-card.tsx'
import { ToolCalls } from './tool-calls.tsx'
import { Totals } from './totals.tsx'

const card = (index: number) => render(<TokenCard token={tokenAt(sample, index) as Token} vocab={sample.vocab} />)
const fact = (name: string) => screen.getByText(name, { selector: 'dt' }).nextElementSibling?.textContent

test('the card tells everything about a token', () => {
  card(6)
  expect([fact('id'), fact('bytes'), fact('text'), fact('loss mask'), fact('segment')]).toEqual([
    '10',
    '61 31',
    '"a1"',
    '1 · trained',
    '1 · response · token 3',
  ])
  expect([fact('logprob'), fact('probability')]).toEqual(['−1.0000', '36.8 %'])
  expect(fact('span')).toBe('tool call call_0000 → arguments.a → malformed tool call call_0001')
  expect(screen.getAllByRole('row')).toHaveLength(2)
  expect(screen.getByRole('row', { name: /"a1" \(chosen\)/ })).toBeDefined()
})

test('what is unknown is called so', () => {
  card(5)
  expect([fact('bytes'), fact('text'), fact('logprob'), fact('probability')]).toEqual([
    'A5',
    'part of a character',
    'unknown',
    'unknown',
  ])
})

test('a token without alternatives says so', () => {
  card(0)
  expect(screen.getByText('None were asked for at this token.')).toBeDefined()
})

test('tool calls show their arguments, result and raw text; malformed ones their reason', async () => {
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

test('a running call says so', () => {
  render(<ToolCalls trajectory={{ ...sample, live: { runningCalls: { call_0000: 'now' } } }} onSelect={() => {}} />)
  expect(screen.getByText('running …')).toBeDefined()
})

test('totals name the temperature that the logprobs are to be read with', () => {
  render(<Totals trajectory={sample} />)
  expect(fact('sampled at')).toBe('T 0.7, top_p 0.9')
  expect(fact('tool calls')).toBe('1 ✓ 1 ✗ (1 malformed)')
  expect(fact('TITO check')).toBe('prefix exact ✓')
})

test('calls without a known result are counted when the run is over', () => {
  const segments = sample.segments.map((segment) =>
    segment.kind === 'response'
      ? { ...segment, toolCalls: segment.toolCalls.map(({ result: _, ...call }) => call) }
      : segment,
  ) as typeof sample.segments
  const { rerender } = render(<Totals trajectory={{ ...sample, segments }} />)
  expect(fact('tool calls')).toBe('0 ✓ 1 ✗ (1 malformed) · 1 result not told')
  rerender(<Totals trajectory={{ ...sample, segments, outcome: { kind: 'running' } }} />)
  expect(fact('tool calls')).toBe('0 ✓ 1 ✗ (1 malformed)')
})

test('a template that broke the assumption is told', () => {
  const prompt = {
    ...sample.segments[2],
    derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'broken', why: 'it counts' } },
  } as (typeof sample.segments)[number]
  render(<Totals trajectory={{ ...sample, segments: [prompt] }} />)
  expect(screen.getByText('template differs')).toBeDefined()
})

test('a template that leaves the tools out is told, once', () => {
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

test('what a router dropped and that the model changed is told above the tokens; what concerns a token is not', () => {
  const dropped = { kind: 'router', message: 'A router drops logit_bias.' }
  const segments = sample.segments.map((segment) => ({
    ...segment,
    problems: [dropped, { kind: 'number', message: 'odd' }],
  }))
  const problems = [{ kind: 'model', message: 'From token 3 on the model is n.' }]
  render(<RunNotices trajectory={{ ...sample, segments, problems }} />)
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual([
    expect.stringContaining('From token 3 on the model is n.'),
    expect.stringContaining('A router drops logit_bias.Give the address'),
  ])
})

test('a failed call is marked and its result is read as it is', () => {
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

test('the outline leads to segments and spans', async () => {
  const onSelect = vi.fn()
  render(<Outline trajectory={sample} selected={8} onSelect={onSelect} />)
  expect(screen.getByRole('button', { name: /2 tool result/ }).getAttribute('aria-current')).toBe('true')
  await userEvent.click(screen.getByRole('button', { name: /call add/ }))
  expect(onSelect).toHaveBeenCalledWith(6)
})

test('the composer sends by key, and only what there is to send', async () => {
  const onSend = vi.fn()
  const props = { onChange: () => {}, onSend, onStop: () => {}, onStartOver: () => {}, isFirst: true }
  const { rerender } = render(<Composer {...props} text="hi" state="ready" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Control>}{Enter}{/Control}')
  expect(onSend).toHaveBeenCalledOnce()
  rerender(<Composer {...props} text="  " state="ready" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Control>}{Enter}{/Control}')
  rerender(<Composer {...props} text="hi" state="running" />)
  await userEvent.type(screen.getByLabelText('Question'), '{Meta>}{Enter}{/Meta}')
  expect(onSend).toHaveBeenCalledOnce()
  expect(screen.getByRole('button', { name: 'Stop' })).toBeDefined()
})

test('a tokenizer that was the server’s is labelled', () => {
  const { rerender } = render(<Totals trajectory={sample} />)
  expect(screen.queryByText('tokenizer', { selector: 'dt' })).toBeNull()
  const { model } = sample
  const tokenizer = { name: '/models/qwen', source: 'server', specialIds: [] } as const
  rerender(<Totals trajectory={{ ...sample, model: { ...model, tokenizer } }} />)
  expect(fact('tokenizer')).toBe('the server’s own, bytes as it decodes them')
})
