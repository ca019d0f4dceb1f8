import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { Comparison } from '#lib/lab/preview/compare.ts'
import type { RunTask } from '#lib/lab/tasks.ts'
import { CompareTab } from './compare-tab.tsx'
import type { LabTabProps } from './lab-tab.ts'

const side = (text: string, tokens: number) =>
  ({ kind: 'rendered', tokenizer: 'bytes', text, tokens, trained: 1 }) as const
const comparison: Comparison = {
  sides: [side('a\nb\n', 4), side('a\nc\n', 6)],
  differences: {
    isSameText: false,
    commonPrefix: 2,
    messages: [
      { message: 0, role: 'user', tokens: [4, 5] },
      { message: undefined, role: '', tokens: [0, 1] },
    ],
    mask: { compared: 2, onlyLeft: 1, onlyRight: 0 },
  },
  turns: [
    {
      kind: 'counted',
      turns: [
        { tokens: 10, cached: undefined },
        { tokens: 20, cached: { kept: 15, of: 15 } },
      ],
    },
    {
      kind: 'refused',
      turns: [
        { tokens: 12, cached: undefined },
        { tokens: 24, cached: { kept: 5, of: 20 } },
      ],
      error: { where: 'template', className: 'TemplateError', message: 'no more' },
    },
  ],
}

function tab(change: Partial<LabTabProps> = {}, answer: Comparison = comparison) {
  const asked: { readonly against: string; readonly tokenizers: readonly string[]; readonly turns: number }[] = []
  const props: LabTabProps = {
    input: { template: 'two', messages: '[]', tools: '', options: '' },
    tokenizer: 'bytes',
    server: '',
    trajectory: undefined,
    run: (async (
      _name: string,
      { against, turns }: { against: string; turns: number },
      { tokenizers }: { tokenizers: string[] },
    ) => {
      asked.push({ against, tokenizers, turns })
      return answer
    }) as unknown as RunTask,
    cursorLine: undefined,
    revisions: [
      { number: 1, name: 'loaded', kind: 'kept', parent: undefined, template: 'one' },
      { number: 2, name: 'draft', kind: 'draft', parent: 1, template: 'two' },
    ],
    view: {},
    onView: vi.fn(),
    onCheck: vi.fn(),
    onLine: vi.fn(),
    onTemplate: vi.fn(),
    onMessages: vi.fn(),
    ...change,
  }
  return { ...render(<CompareTab {...props} />), props, asked }
}

const cells = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map(({ textContent }) => textContent)

test('holds the shown template against the last other revision', async () => {
  const { asked } = tab()
  const tokens = await screen.findByRole('row', { name: /^tokens/ })
  expect(cells(tokens)).toEqual(['4', '6', '+2'])
  expect(asked).toEqual([{ against: 'one', tokenizers: ['bytes', 'bytes'], turns: 16 }])
  expect(screen.getByText('The text differs.')).toBeDefined()
  expect(screen.getByText('The first 2 tokens are the same.')).toBeDefined()
  expect(screen.getByText(/1 are trained only by the other, 0 only as shown/)).toBeDefined()
  expect(cells(screen.getByRole('row', { name: /outside of all messages/ }))).toEqual(['0', '1', '+1'])
  expect([...document.querySelectorAll('[data-diff]')].map(({ textContent }) => textContent)).toContain('2−b')
})

test('tells length and cache of each side, and where one ends', async () => {
  tab()
  expect(cells(await screen.findByRole('row', { name: /^other 2/ }))).toEqual(['2', '20', '100 %', '100 %', '0 tokens'])
  expect(cells(screen.getByRole('row', { name: /^shown 2/ }))).toEqual(['2', '24', '25 %', '25 %', '15 tokens'])
  expect(screen.getByText(/does not render at call 3: TemplateError: no more/)).toBeDefined()
})

test('what is compared stands in the address', async () => {
  const { props, asked } = tab({ view: { against: '2', tokenizer2: 'other', turns: '8' } })
  await screen.findByRole('row', { name: /^tokens/ })
  expect(asked).toEqual([{ against: 'two', tokenizers: ['bytes', 'other'], turns: 8 }])
  await userEvent.selectOptions(screen.getByLabelText(/against/), '1 · loaded')
  expect(props.onView).toHaveBeenLastCalledWith({ against: '1' })
  await userEvent.selectOptions(screen.getByLabelText('Calls of the model'), '32')
  expect(props.onView).toHaveBeenLastCalledWith({ turns: '32' })
})

test('a tokenizer is looked for when its name is complete', async () => {
  const { props } = tab()
  await userEvent.type(screen.getByLabelText('With the tokenizer'), 'Qwen/Qwen3-0.6B')
  expect(props.onView).not.toHaveBeenCalled()
  await userEvent.keyboard('{Enter}')
  expect(props.onView).toHaveBeenCalledWith({ tokenizer2: 'Qwen/Qwen3-0.6B' })
})

test('a side that does not render is told by its error', async () => {
  const error = { where: 'template', className: 'UndefinedError', message: "'x' is undefined", line: 3 } as const
  tab(
    {},
    {
      ...comparison,
      differences: undefined,
      sides: [{ kind: 'refused', tokenizer: 'bytes', error }, comparison.sides[1]],
    },
  )
  expect((await screen.findByRole('alert')).textContent).toBe(
    "The other template: UndefinedError: 'x' is undefined (line 3)",
  )
})

test('ids of two tokenizers are not compared', async () => {
  const [left, right] = comparison.sides as [Extract<Comparison['sides'][number], { kind: 'rendered' }>, unknown]
  const differences = { ...comparison.differences, commonPrefix: undefined } as Comparison['differences']
  tab({}, { ...comparison, differences, sides: [{ ...left, tokenizer: 'other' }, right as typeof left] })
  expect(await screen.findByText(/The tokenizers differ \(other, bytes\)/)).toBeDefined()
})
