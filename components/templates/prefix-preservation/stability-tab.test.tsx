import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, test, vi } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import {
  alias,
  dropsCalls,
  insertsThink,
  promptThinks,
  steady,
  strips,
} from '#lib/templates/prefix-preservation/test-templates.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import { tasks } from '#lib/templates/tasks/tasks.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import type { LabTabProps } from '../lab-tab.ts'
import { labTabProps } from '../test-lab-tab.ts'
import { StabilityTab } from './stability-tab.tsx'

const bytes = { tokenizer: byteTokenizer, compile: (text: string) => chatTemplate(text, {}) }

/** Runs the tasks without a worker and yields to the page between two steps. */
const run = (async (name: keyof typeof tasks, request: never, { signal, onProgress }) => {
  const task = tasks[name]
  const start = 'load' in task ? await task.load() : task
  const steps = start(request, [bytes])
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    onProgress?.(step.value as never)
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
  }
}) as RunTask

/** Runs the tasks without the search for a fix, which starts with the first finding and takes longer than the matrix. */
const runWithoutFix = ((name, request, options) =>
  name === 'stabilityFix' ? new Promise(() => {}) : run(name, request, options)) as RunTask

function tab(template: string, change: Partial<LabTabProps> = {}) {
  const props = labTabProps({
    input: { template, messages: '[]', tools: '', options: '{"add_generation_prompt": true}' },
    run: runWithoutFix,
    ...change,
  })
  const view = render(<StabilityTab {...props} />)
  return { ...view, props, show: (next: Partial<LabTabProps>) => view.rerender(<StabilityTab {...props} {...next} />) }
}

const current = () => waitFor(() => expect(document.querySelector('[data-stability="current"]')).not.toBeNull())
const grid = () => screen.getByRole('grid', { name: 'Prefix stability' })
const cell = (name: RegExp) => within(grid()).getByRole('button', { name })

describe('the matrix of the prefix doctor', () => {
  test('shows each cell with a sign and a name, and opens the first unstable one', async () => {
    tab(strips)
    await current()
    expect(cell(/^thinking off · → tool · calls only: stable$/).textContent).toBe('✓')
    expect(cell(/^thinking on · → user: unstable: The template drops the thinking/).textContent).toBe('✗')
    expect(screen.getByText(/^\d+ of 39 stable$/)).toBeDefined()
    const finding = screen.getByRole('region', { name: 'Finding' })
    expect(finding.dataset.finding).toBe('user/none/on')
    const marked = [...finding.querySelectorAll('[data-first]')].map(({ textContent }) => textContent)
    expect(marked).toEqual([expect.stringContaining('<think>'), expect.not.stringContaining('<think>')])
  })

  test('counts distinct renders and explains every column', async () => {
    tab(promptThinks)
    await current()
    const summary = document.querySelector('[data-stable]')?.textContent
    const [, cells = '', renders = ''] = /(\d+) cells, (\d+) distinct renders/.exec(summary ?? '') ?? []
    expect(Number(renders)).toBeGreaterThan(0)
    expect(Number(renders)).toBeLessThan(Number(cells))
    const legend = screen.getByText('What the columns and rows mean').parentElement as HTMLElement
    for (const column of within(grid()).getAllByRole('columnheader'))
      expect(within(legend).getAllByText(column.textContent ?? '', { selector: 'dt' }).length).toBe(1)
  })

  test('explains a part of the recipe when its name is pressed', async () => {
    tab(promptThinks)
    await current()
    const recipe = within(screen.getByRole('region', { name: 'Incremental recipe' }))
    await userEvent.click(recipe.getByRole('button', { name: 'followed by' }))
    expect(recipe.getByText('Between the end of a turn and what follows')).toBeTruthy()
  })

  test('of a template that renders nothing says so, and counts no boundaries', async () => {
    tab("{{ absent + 'x' }}")
    await current()
    const recipe = screen.getByRole('region', { name: 'Incremental recipe' }).textContent
    expect(recipe).toContain('Impossible: the template renders no conversation in which a reply is followed by')
    expect(recipe).not.toContain('0 of 0')
  })

  test('compares text if the address says so, and its switch changes the address', async () => {
    const asked = vi.fn(runWithoutFix)
    const { props } = tab(strips, { view: { compares: 'text' }, run: asked as unknown as RunTask })
    await current()
    expect(asked.mock.calls[0]?.slice(0, 2)).toMatchObject(['stability', { compares: 'text' }])
    expect(cell(/^thinking on · → user: unstable: The template drops the thinking/).textContent).toBe('✗')
    expect(screen.getByRole('region', { name: 'Finding' }).textContent).toMatch(/first difference at character/)
    await userEvent.click(screen.getByRole('button', { name: 'Tokens' }))
    expect(props.onView).toHaveBeenLastCalledWith({ compares: undefined })
  })

  test('of a prefix-preserving template has only stable cells and no finding', async () => {
    tab(steady)
    await current()
    expect(document.querySelectorAll('[data-verdict="stable"]')).toHaveLength(39)
    expect(screen.getByText(/Every next turn begins with the ids/)).toBeDefined()
    expect(document.querySelector('[data-recipe]')?.getAttribute('data-recipe')).toBe('held')
    expect(screen.getByText(/Checked at all \d+ boundaries:/)).toBeDefined()
  })

  test('moves between cells with the arrow keys, and has one cell in the tab order', async () => {
    const { props } = tab(strips)
    await current()
    expect(grid().querySelectorAll('button[tabindex="0"]')).toHaveLength(1)
    cell(/^thinking on · → user/).focus()
    await userEvent.keyboard('{ArrowRight}')
    expect(document.activeElement?.getAttribute('data-cell')).toBe('system/none/on')
    await userEvent.keyboard('{ArrowUp}{End}')
    expect(document.activeElement?.getAttribute('data-cell')).toBe('chain/with/off')
    await userEvent.keyboard('{ArrowRight}{Home}{ArrowDown}{Enter}')
    expect(props.onView).toHaveBeenLastCalledWith({ cell: 'end/none/on' })
    expect(grid().querySelectorAll('button[tabindex="0"]')).toHaveLength(1)
  })

  test('shows a row that does not apply to the template as one cell with the reason', async () => {
    tab("{%- for m in messages -%}{{- m.role + ': ' + m.content + '\\n' -}}{%- endfor -%}")
    await current()
    expect(within(grid()).getAllByText('– The template does not render thinking.')).toHaveLength(2)
  })

  test('shows the error and its line for a template that does not compile', async () => {
    const { props } = tab('a\n{% if %}')
    await current()
    expect(screen.getByRole('alert').textContent).toContain('TemplateSyntaxError')
    await userEvent.click(screen.getByRole('button', { name: 'Show line 2' }))
    expect(props.onLine).toHaveBeenCalledWith(2)
  })
})

describe('a finding of the prefix doctor', () => {
  test('shows its line, its conversation, and a fix that can be applied', async () => {
    const { props } = tab(alias, { view: { cell: 'tool/without/off' }, run })
    await current()
    const finding = screen.getByRole('region', { name: 'Finding' })
    await userEvent.click(within(finding).getByRole('button', { name: /template line \d+/ }))
    const [[line]] = vi.mocked(props.onLine).mock.calls as [[number]]
    expect(alias.split('\n')[line - 1]).toContain('<|endoftext|>')
    await userEvent.click(within(finding).getByRole('button', { name: /Open the conversation/ }))
    const [[messages, why]] = vi.mocked(props.onMessages).mock.calls as [[string, string]]
    expect(JSON.parse(messages).at(-1)).toMatchObject({ role: 'tool' })
    expect(why).toContain('→ tool')
    const fix = await screen.findByRole('region', { name: 'Fix' })
    expect(fix.querySelectorAll('[data-diff="added"]')).toHaveLength(1)
    expect(fix.textContent).toMatch(
      /Of 240 generated conversations, \d+ broke and \d+ still break; no stable one breaks\./,
    )
    const costs = within(fix).getByRole('list', { name: 'Other changes of the fix' })
    expect(costs.textContent).toBe(
      'A plain reply that a question follows is written with "<|im_end|>" instead of "<|endoftext|>" (options as given).',
    )
    await userEvent.click(within(fix).getByRole('button', { name: 'Apply' }))
    expect(props.onTemplate).toHaveBeenCalledWith(
      alias.replace('<|endoftext|>', '<|im_end|>'),
      'Ends every turn with <|im_end|> instead of <|endoftext|>.',
    )
  })
})

describe('the search of the prefix doctor', () => {
  const search = () => screen.getByRole('region', { name: 'Counterexamples' })

  test('finds the smallest conversation and opens it; a continued search finds another cause', async () => {
    const { props } = tab(strips)
    await current()
    await userEvent.click(screen.getByRole('button', { name: 'Search for counterexamples' }))
    await waitFor(() => expect(search().dataset).toMatchObject({ search: 'done', found: '1' }))
    expect(search().textContent).toContain('user "" · assistant thinks "a" "" · user ""')
    await userEvent.click(within(search()).getByRole('button', { name: 'Open in the editor' }))
    const [[messages]] = vi.mocked(props.onMessages).mock.calls as [[string, string]]
    expect(JSON.parse(messages)).toHaveLength(3)
    await userEvent.click(screen.getByRole('button', { name: 'Keep searching' }))
    await waitFor(() => expect(search().dataset.search).toBe('done'))
    expect(search().querySelectorAll('[data-counterexample="thinking-stripped"]')).toHaveLength(1)
  })

  test('can be cancelled', async () => {
    tab(steady)
    await current()
    await userEvent.click(screen.getByRole('button', { name: 'Search for counterexamples' }))
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
    expect(search().dataset.search).toBe('idle')
    expect(screen.getByRole('button', { name: 'Keep searching' })).toBeDefined()
  })
})

test('the prefix doctor shows a grid of its own for an open trajectory', async () => {
  const trajectory = (await import('#testing/sample-trajectory.ts')).sampleTrajectory
  tab(steady, { trajectory })
  await current()
  expect(screen.getByRole('grid', { name: 'Boundaries of the trajectory' })).toBeDefined()
})

test.each([
  [steady, 'preserving', /^✓ True: the result of a call leaves all \d+ tokens/, 0],
  [insertsThink, 'rewritten', /^✗ False: the result of a call changes what precedes it/, 2],
  [dropsCalls, 'notAsked', /^– Not checked: The template does not print/, 0],
  ['{{ 1 / 0 }}', 'failed', /^! Error: ZeroDivisionError/, 0],
])('TRL’s check has its own answer, with both sides where it is False (%#)', async (template, kind, text, sides) => {
  tab(template)
  await current()
  const box = screen.getByRole('region', { name: 'TRL’s check' })
  expect(box.dataset.trl).toBe(kind)
  expect(box.querySelector('p')?.textContent).toMatch(text)
  expect(box.querySelectorAll('[data-first]')).toHaveLength(sides)
})
