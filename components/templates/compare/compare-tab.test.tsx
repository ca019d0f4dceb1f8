import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { RevisionComparison } from '#lib/templates/preview/compare.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { LabTabProps } from '../lab-tab.ts'
import { labTabProps } from '../test-lab-tab.ts'
import { CompareTab } from './compare-tab.tsx'

/** Returns a side in which line `n` of the text is written by template line `10n + first`. */
const side = (text: string, tokens: number, first: number) => {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const origins = {
    starts: Uint32Array.from(starts),
    lines: Uint32Array.from(starts.slice(1), (_, i) => 10 * i + first),
  }
  return { kind: 'rendered', tokenizer: 'bytes', text, origins, tokens, trained: 1 } as const
}
const comparison: RevisionComparison = {
  sides: [side('a\nend of b\n', 4, 1), side('a\nend of c\n', 6, 2)],
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
      turns: [{ tokens: 10 }, { tokens: 20, cached: { kept: 15, of: 15, step: 'append' } }],
      rows: { count: 1, extra: 0, realigned: 0 },
    },
    {
      kind: 'refused',
      turns: [{ tokens: 12 }, { tokens: 24, cached: { kept: 5, of: 20, step: 'fork' } }],
      rows: { count: 2, extra: 20, realigned: 0 },
      error: { where: 'template', className: 'TemplateError', message: 'no more' },
    },
  ],
}

function tab(change: Partial<LabTabProps> = {}, answer: RevisionComparison = comparison) {
  const asked: { readonly against: string; readonly tokenizers: readonly string[]; readonly turns: number }[] = []
  const props = labTabProps({
    input: { template: 'two', messages: '[]', tools: '', options: '' },
    run: (async (
      _name: string,
      { against, turns }: { against: string; turns: number },
      { tokenizers }: { tokenizers: string[] },
    ) => {
      asked.push({ against, tokenizers, turns })
      return answer
    }) as unknown as RunTask,
    revisions: [
      { number: 1, name: 'loaded', kind: 'kept', parent: undefined, template: 'one' },
      { number: 2, name: 'draft', kind: 'draft', parent: 1, template: 'two' },
    ],
    shown: 2,
    ...change,
  })
  return { ...render(<CompareTab {...props} />), props, asked }
}

const cells = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map(({ textContent }) => textContent)

test('The A/B tab counts a single equal token in the singular', async () => {
  const differences = { ...comparison.differences, commonPrefix: 1 } as RevisionComparison['differences']
  tab({}, { ...comparison, differences })
  expect(await screen.findByText('The first token is the same.')).toBeDefined()
})

test('the A/B tab compares the shown template with the last other revision', async () => {
  const { asked } = tab()
  const tokens = await screen.findByRole('row', { name: /^tokens/ })
  expect(cells(tokens)).toEqual(['4', '6', '+2'])
  expect(asked).toEqual([{ against: 'one', tokenizers: ['bytes', 'bytes'], turns: 16 }])
  expect(screen.getAllByRole('columnheader', { name: '1 · loaded' })[0]?.textContent).toBe('1 · loaded')
  expect(screen.getByText('The text differs.')).toBeDefined()
  expect(screen.getByText('The first 2 tokens are the same.')).toBeDefined()
  expect(
    screen.getByText('Of the 2 characters that both have, 1 is trained only by 1 · loaded, 0 only by 2 · draft.'),
  ).toBeDefined()
  expect(cells(screen.getByRole('row', { name: /outside all messages/ }))).toEqual(['0', '1', '+1'])
  expect([...document.querySelectorAll('[data-diff]')].map(({ textContent }) => textContent)).toContain(
    '2line 11−end of b',
  )
  expect([...document.querySelectorAll('mark')].map(({ textContent }) => textContent)).toEqual(['b', 'c'])
})

test('the A/B tab links a differing line to the template line of each side', async () => {
  const { props } = tab()
  await userEvent.click(await screen.findByRole('button', { name: 'line 12 of the template 2 · draft' }))
  expect(props.onLine).toHaveBeenLastCalledWith(12)
  expect(props.onView).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'line 11 of the template 1 · loaded' }))
  expect(props.onView).toHaveBeenLastCalledWith({ against: '2' })
  expect(props.onLine).toHaveBeenLastCalledWith(11, 1)
})

test('the A/B tab reports length and cached tokens of each side, and where one side ends', async () => {
  tab()
  expect(cells(await screen.findByRole('row', { name: /^1 · loaded 2/ }))).toEqual([
    '2',
    '20',
    '100 %',
    '100 %',
    '0 tokens',
    '1',
  ])
  expect(cells(screen.getByRole('row', { name: /^2 · draft 2/ }))).toEqual([
    '2',
    '24',
    '25 %',
    '25 %',
    '15 tokens',
    '2',
  ])
  expect(screen.getByText(/does not render at call 3: TemplateError: no more/)).toBeDefined()
})

test('the A/B tab writes what is compared into the address', async () => {
  const { props, asked } = tab({ view: { against: '2', tokenizer2: 'other', turns: '8' } })
  await screen.findByRole('row', { name: /^tokens/ })
  expect(asked).toEqual([{ against: 'two', tokenizers: ['bytes', 'other'], turns: 8 }])
  await userEvent.selectOptions(screen.getByLabelText(/Compare the shown template/), '1 · loaded')
  expect(props.onView).toHaveBeenLastCalledWith({ against: '1' })
  await userEvent.selectOptions(screen.getByLabelText('Calls of the model'), '32')
  expect(props.onView).toHaveBeenLastCalledWith({ turns: '32' })
})

test('the A/B tab looks for a tokenizer when its name is complete', async () => {
  const { props } = tab()
  await userEvent.type(screen.getByLabelText('With the tokenizer'), 'Qwen/Qwen3-0.6B')
  expect(props.onView).not.toHaveBeenCalled()
  await userEvent.keyboard('{Enter}')
  expect(props.onView).toHaveBeenCalledWith({ tokenizer2: 'Qwen/Qwen3-0.6B' })
})

test('the A/B tab shows the error of a side that does not render', async () => {
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
    "UndefinedError: 'x' is undefined (1 · loaded)In the template, line 3.Show line 3",
  )
})

test('the A/B tab does not compare the ids of two tokenizers', async () => {
  const [left, right] = comparison.sides as [
    Extract<RevisionComparison['sides'][number], { kind: 'rendered' }>,
    unknown,
  ]
  const differences = { ...comparison.differences, commonPrefix: undefined } as RevisionComparison['differences']
  tab({}, { ...comparison, differences, sides: [{ ...left, tokenizer: 'other' }, right as typeof left] })
  expect(await screen.findByText(/The tokenizers differ \(other, bytes\)/)).toBeDefined()
})
