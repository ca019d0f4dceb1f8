import { act, cleanup, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { defineLayout } from '#components/token-view/test-layout.ts'
import type { TemplateCheck } from '#lib/api/template-check.ts'
import { type Preview, renderPreviewOf } from '#lib/templates/preview/preview.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import type { LabTabProps } from '../lab-tab.ts'
import { labTabProps } from '../test-lab-tab.ts'
import { PreviewTab } from './preview-tab.tsx'

beforeEach(() => {
  defineLayout()
  return () => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  }
})

const input = { template: 'hi\n{{ it }}', messages: '[]', tools: '', options: '' }

/** Render with "ab" from line 1, outside all messages, and "cd" from line 2, in the first message and trained. */
const rendered: Preview = {
  kind: 'rendered',
  leftOut: undefined,
  renderPreview: renderPreviewOf(
    {
      text: 'abcd',
      pieces: [
        { start: 0, end: 2, line: 1, message: undefined, source: 'template' },
        { start: 2, end: 4, line: 2, message: 0, source: 'value' },
      ],
      generation: [{ start: 2, end: 4 }],
      hasGenerationTag: true,
    },
    { messages: [{ role: 'assistant', content: 'cd' }] },
    { tokenizer: byteTokenizer },
  ),
}
const refused: Preview = {
  kind: 'refused',
  error: { where: 'template', className: 'UndefinedError', message: "'it' is undefined", line: 2 },
}

function tab(answers: Readonly<Record<string, Preview | Error>>) {
  const props = labTabProps({
    input,
    run: (async (_name: string, { template }: typeof input) => {
      const answer = answers[template]
      if (answer instanceof Error) throw answer
      return answer
    }) as unknown as RunTask,
  })
  const { rerender } = render(<PreviewTab {...props} />)
  return { props, show: (change: Partial<LabTabProps>) => rerender(<PreviewTab {...props} {...change} />) }
}

const state = () => document.querySelector('[data-preview]')?.getAttribute('data-preview')

test('the preview shows the number of tokens, and the origin of a token', async () => {
  const { show, props } = tab({ [input.template]: rendered })
  expect(await screen.findByText(/4 tokens · 4 characters · 2 trained/)).toBeDefined()
  show({ view: { at: '2' } })
  const card = screen.getByRole('region', { name: 'Token' })
  expect(card.textContent).toContain(`id ${byteTokenizer.encode('c')[0]}`)
  expect(card.textContent).toContain('message 1 assistant')
  expect(card.textContent).toContain('a value')
  expect(card.textContent).toContain('trained')
  await userEvent.click(screen.getByRole('button', { name: 'template line 2' }))
  expect(props.onLine).toHaveBeenCalledWith(2)
})

test('the preview names what the template leaves out of the render', async () => {
  const sentence = 'The template leaves out the tools and the calls of message 2.'
  const lacking: Preview = { ...rendered, leftOut: sentence }
  const { show } = tab({ [input.template]: lacking, whole: rendered, broken: refused })
  expect(await screen.findByText(sentence)).toBeDefined()
  show({ input: { ...input, template: 'broken' } })
  await waitFor(() => expect(screen.queryByText(sentence)).toBeNull())
  show({ input: { ...input, template: 'whole' } })
  await waitFor(() => expect(state()).toBe('current'))
  expect(document.querySelector('[data-left-out]')).toBeNull()
})

test('the preview steps by keyboard: the token is stored in the address, and the editor shows its line', async () => {
  const { show, props } = tab({ [input.template]: rendered })
  await screen.findByText(/4 tokens/)
  show({ view: { at: '1' } })
  screen.getByRole('grid').focus()
  await userEvent.keyboard('{ArrowRight}')
  expect(props.onView).toHaveBeenCalledWith({ at: '2' })
  expect(props.onLine).toHaveBeenCalledWith(2)
  await userEvent.keyboard('{Escape}')
  expect(props.onView).toHaveBeenLastCalledWith({ at: undefined })
})

test('a special token that the tokenizer lacks is reported with what to do, above an older render too', async () => {
  const error = {
    where: 'template',
    className: 'UndefinedError',
    message: "'bos_token' is undefined",
    line: 1,
  } as const
  const { show } = tab({ [input.template]: rendered, other: { kind: 'refused', error } })
  await screen.findByText(/4 tokens/)
  show({ input: { ...input, template: 'other' } })
  const advice =
    'The tokenizer has no bos_token. Choose the tokenizer of this template, or set bos_token under Options.'
  expect(await screen.findByText(`${advice} The last successful render is shown.`)).toBeDefined()
  cleanup()
  tab({ [input.template]: { kind: 'refused', error } })
  expect((await screen.findByRole('alert')).textContent).toContain(`In the template, line 1. ${advice}`)
})

test('the preview shows how many tokens the cursor’s line writes', async () => {
  const { show } = tab({ [input.template]: rendered })
  await screen.findByText(/4 tokens/)
  show({ cursorLine: 2 })
  expect(screen.getByText('line 2: 2 tokens')).toBeDefined()
  show({ cursorLine: 9 })
  expect(screen.getByText('line 9: writes nothing here')).toBeDefined()
})

test('the preview keeps the last render beside an error with Python’s message', async () => {
  const { show, props } = tab({ [input.template]: rendered, broken: refused })
  await screen.findByText(/4 tokens/)
  show({ input: { ...input, template: 'broken' } })
  expect(state()).toBe('busy')
  expect(await screen.findByText("UndefinedError: 'it' is undefined")).toBeDefined()
  expect(state()).toBe('stale')
  expect(screen.getByText(/4 tokens/)).toBeDefined()
  await userEvent.click(screen.getByRole('button', { name: 'Show line 2' }))
  expect(props.onLine).toHaveBeenCalledWith(2)
  show({ input })
  await waitFor(() => expect(state()).toBe('current'))
  expect(document.querySelector('[data-refused]')).toBeNull()
})

test('the preview shows why a task failed, and what to do', async () => {
  tab({ [input.template]: Object.assign(new Error('no such tokenizer'), { hint: 'choose another' }) })
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('No such tokenizer')
  expect(alert.textContent).toContain('choose another')
})

test('the preview ignores an answer that arrives too late', async () => {
  const { promise, resolve } = Promise.withResolvers<Preview>()
  let isAsked = false
  const { show } = tab({
    get [input.template]() {
      isAsked = true
      return promise as unknown as Preview
    },
    second: refused,
  })
  await waitFor(() => expect(isAsked).toBe(true))
  show({ input: { ...input, template: 'second' } })
  await screen.findByRole('alert')
  await act(async () => resolve(rendered))
  expect(screen.queryByText(/4 tokens/)).toBeNull()
})

test('the preview shows the whole text on request', async () => {
  tab({ [input.template]: rendered })
  await screen.findByText(/4 tokens/)
  await userEvent.click(screen.getByRole('button', { name: 'Text' }))
  expect((screen.getByRole('textbox', { name: 'Rendered text' }) as HTMLTextAreaElement).value).toBe('abcd')
})

describe('a check with another renderer', () => {
  const differs: TemplateCheck = {
    renderer: 'python',
    version: 'transformers 5.23.0',
    verdict: 'differs',
    detail: 'Its text differs.',
    firstDifference: { unit: 'character', at: 2, ours: 'cd', theirs: 'xy' },
  }

  test('shows the renderer and the first difference', async () => {
    const { props, show } = tab({ [input.template]: rendered })
    await screen.findByText(/4 tokens/)
    const onCheck = vi.fn(async () => differs)
    show({ onCheck })
    await userEvent.click(screen.getByRole('button', { name: 'Check with my Python' }))
    expect(onCheck).toHaveBeenCalledWith('python', expect.any(AbortSignal))
    const verdict = document.querySelector('[data-renderer="python"]')
    expect(verdict?.getAttribute('data-verdict')).toBe('differs')
    expect(verdict?.textContent).toContain('transformers 5.23.0: Its text differs.')
    expect([...(verdict?.querySelectorAll('code') ?? [])].map(({ textContent }) => textContent)).toEqual([
      '"cd"',
      '"xy"',
    ])
    await userEvent.click(screen.getByRole('button', { name: 'Show the token' }))
    expect(props.onView).toHaveBeenCalledWith({ at: '2' })
  })

  test('is removed or cancelled when the document changes', async () => {
    const { show } = tab({ [input.template]: rendered, broken: refused })
    await screen.findByText(/4 tokens/)
    const signals: AbortSignal[] = []
    const { promise, resolve } = Promise.withResolvers<TemplateCheck>()
    const onCheck = async (_renderer: unknown, signal: AbortSignal) => {
      signals.push(signal)
      return promise
    }
    show({ onCheck })
    await userEvent.click(screen.getByRole('button', { name: 'Check with the server' }))
    expect(screen.getByRole('button', { name: 'Checking…' })).toHaveProperty('ariaDisabled', 'true')
    show({ onCheck, input: { ...input, template: 'broken' } })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await act(async () => resolve(differs))
    expect(document.querySelector('[data-verdict]')).toBeNull()
    expect(screen.getByRole('button', { name: 'Check with the server' })).toHaveProperty('ariaDisabled', null)
  })

  test('with the server cannot be requested while the server does not answer', async () => {
    const { show } = tab({ [input.template]: rendered })
    const onCheck = vi.fn(async () => differs)
    show({ serverProblem: 'lab: nothing answers at http://127.0.0.1:9' })
    const button = screen.getByRole('button', { name: 'Check with the server' })
    expect(button).toHaveProperty('disabled', true)
    expect(screen.getByText('lab: nothing answers at http://127.0.0.1:9')).toBeDefined()
    expect(screen.getByRole('button', { name: 'Check with my Python' })).toHaveProperty('disabled', false)
    show({ onCheck })
    await userEvent.click(button)
    expect(onCheck).toHaveBeenCalledOnce()
  })

  test('shows why it failed', async () => {
    const { show } = tab({ [input.template]: rendered })
    show({ onCheck: () => Promise.reject(Object.assign(new Error('no such server'), { hint: 'choose another' })) })
    await userEvent.click(screen.getByRole('button', { name: 'Check with the server' }))
    expect((await screen.findByText(/no such server/)).textContent).toContain('choose another')
  })
})
