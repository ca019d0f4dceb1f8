import { act, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeAll, expect, test, vi } from 'vitest'
import type { PromptSegment, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { PNG_URL } from '#testing/images.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Inspection } from '../inspection.ts'
import { RangeCard } from '../selection/range-card.tsx'
import { MessagesTab } from './messages-tab.tsx'

const inspectionOf = (change: Partial<Inspection>, at?: readonly [number, number]): Inspection =>
  ({
    trajectory: sample,
    view: { tab: 'messages', selection: at && { anchor: at[0], focus: at[1] } },
    pointed: undefined,
    marks: [],
    onPointAt: () => {},
    onSelect: () => {},
    ...change,
  }) as Inspection

const show = (change: Partial<Inspection> = {}, at?: readonly [number, number]) =>
  render(<MessagesTab inspection={inspectionOf(change, at)} />)
const message = (name: RegExp) => screen.getByRole('article', { name })

/** Returns a trajectory with a response whose text is one token. */
const saying = (text: string): TrajectoryView => ({
  ...sample,
  vocab: { '3': text },
  segments: [{ kind: 'response', ids: [3], thinks: [], toolCalls: [] }],
})

beforeAll(async () => {
  // The page loads this module late; here it is loaded before the tests.
  await import('#components/ui/markdown.tsx')
})

test('the Messages tab shows the parsed conversation', () => {
  show()
  expect(screen.getAllByRole('article').map((element) => element.getAttribute('aria-label'))).toEqual([
    'Message 1, system',
    'Message 2, user',
    'Message 3, assistant',
    'Message 4, tool add',
    'Message 5, tool',
    'Message 6, assistant',
  ])
  const reply = within(message(/^Message 3/))
  expect(reply.getByRole('group', { name: 'thinking' }).textContent).toContain('日')
  expect(reply.getByRole('group', { name: 'call' }).textContent).toMatch(/add.*a number1$/)
  expect(reply.getByRole('group', { name: 'malformed call' }).textContent).toContain('Malformed: odd.')
  expect(message(/^Message 4/).textContent).toMatch(/call 1 · ✓ · 1.0 ms/)
})

test('the Messages tab shows that a tool reported an error, also if its call is unknown', () => {
  const result = { role: 'tool', content: 'no', isError: true } as const
  show({ trajectory: { ...sample, segments: [{ kind: 'prompt', ids: [], messages: [result] }] } })
  expect(message(/^Message 1, tool/).textContent).toContain('✗ error')
})

test('the Messages tab reports a message whose text is not among the tokens', () => {
  show()
  expect(within(message(/^Message 1/)).getByText('not found in segment 0')).toBeTruthy()
  expect(within(message(/^Message 1/)).getByText('tokens unknown')).toBeTruthy()
})

test('the Messages tab mounts all messages while it is printed', () => {
  const messages = Array.from({ length: 60 }, (_, index) => ({ role: 'user' as const, content: `message ${index}` }))
  show({ trajectory: { ...sample, segments: [{ kind: 'prompt', ids: [], messages }] } })
  const mounted = () => document.querySelectorAll('[data-row]').length
  expect(mounted()).toBeLessThan(50)
  act(() => window.dispatchEvent(new Event('beforeprint')))
  expect(mounted()).toBe(60)
  act(() => window.dispatchEvent(new Event('afterprint')))
  expect(mounted()).toBeLessThan(50)
})

test('the Messages tab shows an image of a message, and never loads the address of one', () => {
  const content = [
    { type: 'image', image: PNG_URL },
    { type: 'image', reference: 'https://example.com/a.png' },
    { type: 'image', image: `data:image/svg+xml;base64,${btoa('<svg onload="alert(1)"/>')}` },
    { type: 'text', text: 'What is this?' },
  ]
  const segment: PromptSegment = { kind: 'prompt', ids: [], messages: [{ role: 'user', content }] }
  const { container } = show({ trajectory: { ...sample, segments: [segment] } })
  expect(screen.getAllByRole('img').map((element) => element.getAttribute('src'))).toEqual([PNG_URL])
  expect(screen.getByRole('img', { name: 'Image, PNG, 6 × 4' })).toBeTruthy()
  expect(container.querySelector('[src*="example.com"], a, svg[onload]')).toBeNull()
  expect(container.textContent).toContain(
    'only its address or path: https://example.com/a.png. Addresses are never fetched.',
  )
  expect(container.textContent).toContain('Image is not shown. Its bytes are no PNG, JPEG, WebP or GIF image.')
})

test('the Messages tab marks the tokens of a part under the pointer, and selects or shows them on click', async () => {
  const [onPointAt, onSelect] = [vi.fn(), vi.fn()]
  show({ onPointAt, onSelect })
  const part = within(message(/^Message 3/)).getByRole('group', { name: 'thinking' })
  await userEvent.hover(part)
  expect(onPointAt).toHaveBeenLastCalledWith({ start: 3, end: 6 })
  await userEvent.unhover(part)
  expect(onPointAt).toHaveBeenLastCalledWith(undefined)
  await userEvent.click(within(part).getByRole('button', { name: '3 tokens' }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 3, focus: 5 }, undefined)
  await userEvent.click(within(part).getByRole('button', { name: 'show' }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 3, focus: 5 }, 'tokens')
})

test('the Messages tab marks the part of the selected token, or of the token under the pointer if there is one', () => {
  const { rerender } = show({}, [4, 4])
  const names = () =>
    [...document.querySelectorAll('[data-part][data-linked]')].map((part) => part.getAttribute('aria-label'))
  expect(names()).toEqual(['thinking'])
  rerender(<MessagesTab inspection={inspectionOf({ pointed: 6 }, [4, 4])} />)
  expect(names()).toEqual(['call'])
  // Text that a template writes around the parts belongs to the message only.
  rerender(<MessagesTab inspection={inspectionOf({ pointed: 7 })} />)
  expect(names()).toEqual([])
  expect(message(/^Message 3/).dataset.linked).toBe('true')
})

test('the Messages tab shows the text of the tokens with its markup on request', async () => {
  show()
  const reply = message(/^Message 3/)
  await userEvent.click(within(reply).getByRole('button', { name: 'Raw' }))
  expect(reply.querySelector('[data-raw]')?.textContent).toBe('<think>日a1<end>')
})

test('the Messages tab counts the hits of each message', () => {
  show({ marks: [{ kind: 'hit', ranges: Int32Array.from([1, 2, 2, 4, 5, 6, 9, 12]) }] })
  const hits = (name: RegExp) => within(message(name)).queryByText(/ hits?$/)?.textContent
  expect([hits(/^Message 2/), hits(/^Message 3/), hits(/^Message 4/), hits(/^Message 6/)]).toEqual([
    '2 hits',
    '2 hits',
    '1 hit',
    '1 hit',
  ])
})

test('the Messages tab renders Markdown on request, and never creates an element from HTML of the model', async () => {
  const text = [
    '# Title',
    '**bold** and `code` <img src=x onerror=alert(1)> [link](javascript:alert(1)) ![picture](http://evil/x.png)',
    '- [x] done\n- two',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '```js\nlet x\n```',
    '<script>alert(1)</script>',
    '> quoted',
  ].join('\n\n')
  show({ trajectory: saying(text) })
  const body = message(/^Message 1/)
  expect(body.textContent).toContain('**bold**')
  await userEvent.click(screen.getByRole('checkbox', { name: 'Markdown' }))
  const drawn = await within(body).findByText('bold')
  expect(drawn.tagName).toBe('STRONG')
  expect(within(body).getByRole('cell', { name: '2' })).toBeDefined()
  expect(within(body).getByText('let x').tagName).toBe('PRE')
  expect(body.querySelector('img, script, a')).toBeNull()
  expect(body.textContent).toContain('<img src=x onerror=alert(1)>')
  expect(body.textContent).toContain('<script>alert(1)</script>')
  expect(body.textContent).toContain('link (javascript:alert(1))')
  expect(body.textContent).toContain('[image: picture] (http://evil/x.png)')
})

test('the Messages tab shows Markdown that is too long or too deep as text', async () => {
  for (const text of ['a '.repeat(40_000), '>'.repeat(20_000)]) {
    const { unmount } = show({ trajectory: saying(text) })
    await userEvent.click(screen.getByRole('checkbox', { name: 'Markdown' }))
    expect(await screen.findByText('Too long to be read as Markdown:')).toBeDefined()
    unmount()
  }
})

test('the Messages tab cuts a long text, states its length, and shows all of it on request', async () => {
  const text = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n')
  show({ trajectory: saying(text) })
  const body = message(/^Message 1/)
  expect(body.textContent?.length).toBeLessThan(2_000)
  await userEvent.click(within(body).getByRole('button', { name: 'Show all 20,000 lines (208,889 characters)' }))
  expect(body.textContent).toContain('line 19999')
})

test('the range card shows the totals of a range, and its extremes select their tokens', async () => {
  const onSelect = vi.fn()
  render(<RangeCard inspection={inspectionOf({ onSelect }, [9, 1])} />)
  const fact = (name: string) =>
    screen.getByText(name, { selector: 'dt, dt *' }).closest('dt')?.nextElementSibling?.textContent
  expect(screen.getByRole('region', { name: 'Range' }).dataset.range).toBe('1-9')
  expect([fact('tokens'), fact('trained (mask 1)'), fact('segments'), fact('known'), fact('Σ logprob')]).toEqual([
    '9',
    '5 · 55.6 %',
    '0 to 2',
    '4',
    '−1.750',
  ])
  expect(screen.getByRole('region', { name: 'Text of the range' }).textContent).toBe('hi<end><think>日a1<end>\n4')
  await userEvent.click(screen.getByRole('button', { name: 'token 6' }))
  expect(onSelect).toHaveBeenCalledWith({ anchor: 6, focus: 6 }, 'tokens')
})

test('the range card shows hidden characters of its text', () => {
  render(<RangeCard inspection={inspectionOf({ trajectory: saying('a\u202eb') }, [0, 0])} />)
  expect(screen.getByRole('region', { name: 'Text of the range' }).textContent).toBe('a⟨U+202E⟩b')
})

test('the range card shows the totals of a context range as context, and reports a range past the end', () => {
  const { rerender } = render(<RangeCard inspection={inspectionOf({}, [0, 2])} />)
  expect(screen.getByText('Logprobs of context (prefill)')).toBeDefined()
  rerender(<RangeCard inspection={inspectionOf({}, [8, 9])} />)
  expect(screen.getByText('Unknown.')).toBeDefined()
  rerender(<RangeCard inspection={inspectionOf({}, [50, 60])} />)
  expect(screen.getByText('No token is in this range.')).toBeDefined()
})

test('the Messages tab shows messages of a file without tokens, and says nothing about tokens', () => {
  const response: ResponseSegment = {
    kind: 'response',
    ids: [],
    thinks: [],
    toolCalls: [],
    message: { content: 'Four.', reasoning: 'hm', tool_calls: [{ function: { name: 'add', arguments: '{"a": 1}' } }] },
  }
  const { tokenizer: _, ...model } = sample.model
  const prompt: PromptSegment = { kind: 'prompt', ids: [], messages: [{ role: 'user', content: '2 + 2?' }] }
  show({ trajectory: { ...sample, model, vocab: {}, segments: [prompt, response] } })
  const reply = within(message(/^Message 2, assistant/))
  expect(reply.getAllByRole('group').map((part) => part.getAttribute('aria-label'))).toEqual([
    'thinking',
    'text',
    'call',
  ])
  expect(message(/^Message 1, user/).textContent).toContain('2 + 2?')
  expect(screen.queryByText(/tokens/)).toBeNull()
  expect(screen.queryByRole('button', { name: 'Raw' })).toBeNull()
})
