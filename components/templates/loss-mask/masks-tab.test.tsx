import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { defineLayout } from '#components/token-view/test-layout.ts'
import type { MaskReport } from '#lib/templates/loss-mask/report.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { LabTabProps } from '../lab-tab.ts'
import { labTabProps } from '../test-lab-tab.ts'
import { MasksTab } from './masks-tab.tsx'

beforeEach(() => {
  defineLayout()
  return () => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  }
})

const input = { template: 't', messages: '[]', tools: '', options: '' }

/** Report with q of the user, a of the assistant, an end and a newline. `generation` trains nothing, `prefix` also the newline. */
const report: MaskReport = {
  version: 1,
  tokenizer: { name: 'bytes', fingerprint: 'f' },
  failure: undefined,
  sequence: {
    of: 'rendering',
    ids: [1, 2, 3, 4],
    vocab: { '1': 'q', '2': 'a', '3': '<end>', '4': '\n' },
    specialIds: [3],
    roles: ['user', 'assistant'],
    origins: [
      { start: 0, end: 1, line: 1, message: 0 },
      { start: 1, end: 3, line: 2, message: 1 },
      { start: 3, end: 4, line: undefined, message: undefined },
    ],
  },
  ways: [
    { name: 'tito', kind: 'missing', why: 'no trajectory is open' },
    {
      name: 'generation',
      kind: 'computed',
      trained: 0,
      tokens: 4,
      runs: [{ start: 0, end: 4, mark: 'untrained' }],
      foreign: { tokens: 0, trained: 0 },
      finding: { severity: 'error', text: 'the template has no generation block' },
      breaks: [],
    },
    {
      name: 'prefix',
      kind: 'computed',
      trained: 3,
      tokens: 4,
      runs: [
        { start: 0, end: 1, mark: 'untrained' },
        { start: 1, end: 4, mark: 'trained' },
      ],
      foreign: { tokens: 0, trained: 0 },
      finding: { severity: 'warning', text: 'the prefix breaks at one message' },
      breaks: [
        { message: 1, text: 'opened otherwise', difference: { tokenIndex: 1, expected: 'x', found: 'a' }, line: 2 },
      ],
    },
    {
      name: 'fixed-base',
      kind: 'computed',
      trained: 2,
      tokens: 3,
      runs: [
        { start: 0, end: 1, mark: 'untrained' },
        { start: 1, end: 3, mark: 'trained' },
        { start: 3, end: 4, mark: 'unknown' },
      ],
      foreign: { tokens: 0, trained: 0 },
      finding: { severity: 'none', text: 'nothing found' },
      breaks: [],
    },
  ],
  pairs: [
    { ways: ['generation', 'prefix'], tokens: 3 },
    { ways: ['generation', 'fixed-base'], tokens: 2 },
    { ways: ['prefix', 'fixed-base'], tokens: 0 },
  ],
  disagreements: [
    {
      start: 1,
      end: 3,
      text: 'a<end>',
      line: 2,
      message: 1,
      marks: { generation: 'untrained', prefix: 'trained', 'fixed-base': 'trained' },
    },
    {
      start: 3,
      end: 4,
      text: '\n',
      line: undefined,
      message: undefined,
      marks: { generation: 'untrained', prefix: 'trained', 'fixed-base': 'unknown' },
    },
  ],
  lints: [
    { kind: 'all-zero', way: 'generation', severity: 'error', text: 'Nothing.', remedy: 'Add a block.', places: [] },
    {
      kind: 'after-end-trained',
      way: 'prefix',
      severity: 'warning',
      text: 'Too far.',
      remedy: 'Cut it.',
      places: [
        { start: 3, end: 4, text: '\n', inSequence: { start: 3, end: 4 }, line: 5, message: 1 },
        { start: 9, end: 10, text: 'gone', inSequence: undefined, line: undefined, message: undefined },
      ],
    },
  ],
}

function tab(answer: MaskReport | Error, view: LabTabProps['view'] = {}) {
  const props = labTabProps({
    input,
    server: 'built-in',
    run: (async () => {
      if (answer instanceof Error) throw answer
      return answer
    }) as unknown as RunTask,
    view,
  })
  render(<MasksTab {...props} />)
  return props
}

const wayRow = (name: string) => document.querySelector(`[data-way="${name}"]`) as HTMLElement

describe('the mask doctor', () => {
  test('shows how much each way trains and its problems', async () => {
    const { onLine } = tab(report)
    await screen.findByText('Loss mask, four ways')
    expect(wayRow('tito').textContent).toContain('no trajectory is open')
    expect(wayRow('generation').dataset.severity).toBe('error')
    expect(wayRow('generation').textContent).toContain('0 trained of 4')
    expect(wayRow('prefix').textContent).toContain('3 trained of 4')
    await userEvent.click(within(wayRow('prefix')).getByText(/where the prefix breaks/))
    expect(wayRow('prefix').textContent).toContain('Message 2: opened otherwise')
    await userEvent.click(within(wayRow('prefix')).getByRole('button', { name: 'template line 2' }))
    expect(onLine).toHaveBeenCalledWith(2)
  })

  test('explains a way when its name is pressed', async () => {
    tab(report)
    const name = await screen.findByRole('button', { name: 'fixed base' })
    expect(wayRow('fixed-base').textContent).not.toContain('minus the base')
    await userEvent.click(name)
    expect(wayRow('fixed-base').textContent).toContain('minus the base')
  })

  test('lists the disagreements; a click shows their tokens and template line', async () => {
    const { onView, onLine } = tab(report)
    const list = await screen.findByRole('list', { name: 'Disagreements' })
    const [first, second] = within(list).getAllByRole('button')
    expect(first?.textContent).toContain('2 tokens from 1')
    expect(first?.textContent).toContain('generation not trained')
    expect(second?.textContent).toContain('fixed base absent')
    await userEvent.click(first as HTMLElement)
    expect(onView).toHaveBeenCalledWith({ at: '1' })
    expect(onLine).toHaveBeenCalledWith(2)
  })

  test('lists only the disagreements of two chosen ways', async () => {
    tab(report)
    await screen.findByText('Where they disagree (2)')
    await userEvent.click(screen.getByRole('button', { name: 'generation ↔ fixed base 2' }))
    expect(screen.getByText('Where generation and fixed base disagree (1)')).toBeDefined()
    expect(screen.getByRole('button', { name: 'prefix ↔ fixed base 0' }).hasAttribute('disabled')).toBe(true)
    await userEvent.click(screen.getByRole('button', { name: 'generation ↔ fixed base 2' }))
    expect(screen.getByText('Where they disagree (2)')).toBeDefined()
  })

  test('shows the place and the remedy of each lint', async () => {
    const { onView, onLine } = tab(report)
    const lint = (await screen.findByText('Cut it.')).closest('li') as HTMLElement
    const [here, gone] = within(lint).getAllByRole('button')
    await userEvent.click(here as HTMLElement)
    expect(onView).toHaveBeenCalledWith({ at: '3' })
    expect(onLine).toHaveBeenCalledWith(5)
    expect(gone?.hasAttribute('disabled')).toBe(true)
  })

  test('shows the mark of every way for the chosen token', async () => {
    tab(report, { at: '3' })
    const bar = await screen.findByRole('region', { name: 'Token' })
    expect(bar.textContent).toContain('prefix: trained')
    expect(bar.textContent).toContain('fixed base: absent')
    expect(bar.textContent).not.toContain('template line')
  })

  test('steps through the tokens by keyboard', async () => {
    const { onView, onLine } = tab(report, { at: '1' })
    ;(await screen.findByRole('grid')).focus()
    await userEvent.keyboard('{ArrowLeft}')
    expect(onView).toHaveBeenCalledWith({ at: '0' })
    expect(onLine).toHaveBeenCalledWith(1)
  })

  test('says when there are no findings', async () => {
    tab({ ...report, lints: [], disagreements: [] })
    expect(await screen.findByText('No findings')).toBeDefined()
    expect(screen.getByText('No disagreements')).toBeDefined()
  })

  test('shows an error with its line for a conversation that does not render', async () => {
    const failure = { where: 'template', className: 'UndefinedError', message: "'x' is undefined", line: 4 } as const
    const { onLine } = tab({ ...report, failure, sequence: { ...report.sequence, ids: [], origins: [] } })
    expect((await screen.findByRole('alert')).textContent).toContain("'x' is undefined")
    await userEvent.click(screen.getByRole('button', { name: 'Show line 4' }))
    expect(onLine).toHaveBeenCalledWith(4)
  })

  test('shows why a task failed', async () => {
    tab(new Error('no such tokenizer'))
    expect((await screen.findByRole('alert')).textContent).toContain('No such tokenizer')
  })
})
