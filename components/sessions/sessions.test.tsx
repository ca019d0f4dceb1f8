import { QueryClient } from '@tanstack/react-query'
import { fireEvent, render, screen, within } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { storeToken } from '#lib/browser/api.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { testCall, testSession } from '#testing/sessions.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { CallForest } from './call-forest.tsx'
import { callEntries, nodesOfCalls, type SessionCallNode } from './call-texts.ts'
import { EmptySessions } from './empty-sessions.tsx'
import { FirstDifferingToken } from './first-differing-token.tsx'
import { RewardField } from './reward-field.tsx'
import { SavingsLine } from './savings-line.tsx'
import { SessionList } from './session-list.tsx'
import { SetupLine } from './setup-line.tsx'

const session = testSession

beforeEach(() => storeToken('a-token'))

test('The table of sessions shows the numbers of each session and selects one by its button', () => {
  const onSelect = vi.fn()
  render(
    <SessionList
      sessions={[session, { ...session, id: 'ses_2', state: 'idle' }]}
      savings={[{ id: 'ses_2', drifts: 14 }]}
      selected="ses_1"
      onSelect={onSelect}
    />,
  )
  const [, first, second] = screen.getAllByRole('row')
  expect(first?.textContent).toContain('agent 1.0 observe · chat')
  expect(first?.textContent).toContain('48,210')
  expect(
    within(first as HTMLElement)
      .getByRole('img')
      .getAttribute('aria-label'),
  ).toBe('live, 1 failed call, drift')
  expect(
    within(first as HTMLElement)
      .getByRole('button')
      .getAttribute('aria-current'),
  ).toBe('true')
  expect(second?.textContent).toContain('3 · 14 avoided')
  fireEvent.click(within(second as HTMLElement).getByRole('button'))
  expect(onSelect).toHaveBeenCalledWith('ses_2')
})

test('The setup line shows the variable of each kind of client', () => {
  render(<SetupLine sessionId="auto" />)
  const { origin } = window.location
  expect(screen.getByText(`OPENAI_BASE_URL=${origin}/sessions/auto/v1`)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Anthropic' }))
  expect(screen.getByText(`ANTHROPIC_BASE_URL=${origin}/sessions/auto`)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Command' }))
  expect(screen.getByText('npx rollscope run -- COMMAND')).toBeTruthy()
})

test('Without a session the page shows three set-ups and a call that works offline, each with a copy button', () => {
  render(<EmptySessions />)
  expect(screen.getAllByRole('button', { name: 'Copy' })).toHaveLength(4)
  expect(screen.getByText(/curl .*Bearer a-token/)).toBeTruthy()
})

test('The forest shows a row for each reply and names its call', () => {
  const onSelect = vi.fn()
  const call = { sequence: 1, attached: { kind: 'continued' }, accepted: [], added: 1 }
  const node = { parent: null, status: 'complete', start: 0, prompt: 1204, reply: 86, text: 'find .' }
  const nodes = [0, 1].map((index) => ({
    call,
    node: { ...node, node: index, choice: index },
  })) as unknown as SessionCallNode[]
  render(<CallForest entries={nodes} nodes={nodes} selected="0" focused={undefined} onSelect={onSelect} />)
  expect(screen.getAllByText('1,204 + 86')).toHaveLength(2)
  fireEvent.click(screen.getByRole('button', { name: 'Call 1, reply 2' }))
  expect(onSelect).toHaveBeenCalledWith(nodes[1])
})

test('The forest shows a call that was refused with its status and its reason', () => {
  const onSelect = vi.fn()
  const refused = testCall(2, null, { status: 400, error: 'The field ebnf is not supported.', nodes: [] })
  const calls = [testCall(1, { kind: 'new-root' }), refused]
  render(
    <CallForest
      entries={callEntries(calls)}
      nodes={nodesOfCalls(calls)}
      selected="call 2"
      focused={undefined}
      onSelect={onSelect}
    />,
  )
  const [, , row] = screen.getAllByRole('row')
  expect(row?.textContent).toBe('2refused status 400The field ebnf is not supported.8—')
  expect(row?.querySelector('button')?.getAttribute('aria-current')).toBe('true')
  fireEvent.click(screen.getByRole('button', { name: 'Call 2' }))
  expect(onSelect).toHaveBeenCalledWith({ call: refused, node: undefined })
})

test('The forest of 1,024 calls mounts only the rows that are visible, and shows the selected one', () => {
  const nodes = nodesOfCalls(
    Array.from({ length: 1_024 }, (_, index) => {
      const call = testCall(index + 1, { kind: 'continued' })
      return { ...call, nodes: call.nodes.map((node) => ({ ...node, parent: index === 0 ? null : 0 })) }
    }),
  )
  render(<CallForest entries={nodes} nodes={nodes} selected="1023" focused={undefined} onSelect={() => {}} />)
  const table = screen.getByRole('table', { name: 'Calls' })
  expect(table.getAttribute('aria-rowcount')).toBe('1025')
  expect(within(table).getAllByRole('button').length).toBeLessThan(60)
  // Rails beyond the last one are drawn once, however many pass a row.
  expect(table.querySelectorAll('path').length).toBeLessThan(60 * 10)
  fireEvent.scroll(table.parentElement as HTMLElement)
  expect(screen.getByRole('button', { name: 'Call 1024' })).toBeTruthy()
})

test('The reward of a session is sent as a number, and a text that is no number cannot be sent', async () => {
  const onMessage = vi.fn()
  const send = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(null, { status: 204 }))
  render(<RewardField session={session} onMessage={onMessage} />, { wrapper: withQueries() })
  const field = screen.getByLabelText('Reward')
  const set = screen.getByRole<HTMLButtonElement>('button', { name: 'Set' })
  fireEvent.change(field, { target: { value: 'good' } })
  expect(set.disabled).toBe(true)
  fireEvent.change(field, { target: { value: '0.5' } })
  fireEvent.click(set)
  await expect.poll(() => onMessage.mock.calls).toEqual([['The reward is 0.5.']])
  expect(send.mock.calls[0]?.[0]).toBe('/sessions/ses_1/reward')
  expect(send.mock.calls[0]?.[1]?.body).toBe('{"reward":0.5}')
})

test('The field of the reward keeps the focus and what is typed when the stored reward changes', async () => {
  vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(null, { status: 204 }))
  const onMessage = vi.fn()
  const { rerender } = render(<RewardField session={session} onMessage={onMessage} />, { wrapper: withQueries() })
  const field = screen.getByLabelText<HTMLInputElement>('Reward')
  field.focus()
  fireEvent.change(field, { target: { value: '0.5' } })
  fireEvent.submit(field)
  await expect.poll(() => onMessage.mock.calls).toEqual([['The reward is 0.5.']])
  rerender(<RewardField session={{ ...session, reward: 1 }} onMessage={onMessage} />)
  expect([field.value, document.activeElement]).toEqual(['1', field])
  fireEvent.change(field, { target: { value: '0.2' } })
  rerender(<RewardField session={{ ...session, reward: 0 }} onMessage={onMessage} />)
  expect(field.value).toBe('0.2')
})

test('A changed history names the first token that differs from the other call, and a retry with the same reply none', () => {
  const queries = new QueryClient()
  const outcome = { kind: 'ended', reason: 'end_turn' }
  const trajectory = (id: number) =>
    ({ outcome, segments: [{ kind: 'prompt', ids: [1, 2, id] }] }) as unknown as TrajectoryView
  queries.setQueryData(trajectoryOptions('own').queryKey, trajectory(3))
  queries.setQueryData(trajectoryOptions('other').queryKey, trajectory(4))
  queries.setQueryData(trajectoryOptions('again').queryKey, trajectory(3))
  const { rerender } = render(<FirstDifferingToken own="own" other="other" />, { wrapper: withQueries(queries) })
  expect(screen.getByText('first difference at token 2')).toBeTruthy()
  rerender(<FirstDifferingToken own="own" other="again" />)
  expect(screen.getByText('the same tokens')).toBeTruthy()
})

const counts = { drifts: 2, trainedTokens: 3, cachedTokens: 0, rows: 4 }

test('The savings follow the chosen leaves, and a panel shows each leaf and all sessions', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const send = vi.spyOn(globalThis, 'fetch').mockImplementation(async (address) =>
    Response.json(
      String(address) === '/api/savings'
        ? {
            total: { ...counts, leaves: 9 },
            sessions: [{ ...counts, leaves: 9, id: 'ses_1' }],
            waiting: 2,
            failed: 0,
          }
        : { leaves: [{ ...counts, node: 1, caveats: ['It is long.'] }], total: counts },
    ),
  )
  const nodes = nodesOfCalls([testCall(1, { kind: 'new-root' }), testCall(2, { kind: 'continued' })])
  const line = (picker: 'all' | 'longest', tokens: number) => (
    <SavingsLine session={{ ...session, tokens }} nodes={nodes} picker={picker} />
  )
  const { rerender } = render(line('all', 10), { wrapper: withQueries(queries) })
  await screen.findByText('2 drifts avoided · 3 trained tokens kept · 1 row instead of 4')
  expect(screen.getByText('Each leaf, 1 caveat')).toBeTruthy()
  await screen.findByText('All 1 session, 2 waiting')
  const rows = within(screen.getByRole('table', { name: 'Savings', hidden: true })).getAllByRole('row', {
    hidden: true,
  })
  expect(rows.slice(1).map((row) => [...row.children].map(({ textContent }) => textContent).join(' '))).toEqual([
    'Call 2 2 3 0 1 instead of 4',
    'All leaves 2 3 0 1 instead of 4',
    'All 1 session, 2 waiting 2 3 0 9 instead of 4',
  ])
  rerender(line('longest', 10))
  await screen.findByText('Chosen leaves')
  expect(send.mock.calls.map(([address]) => address)).toContain('/api/sessions/ses_1/savings?leaves=longest')
})

test('A session that cannot be compared with a chat pipeline says why', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
    Response.json({ status: 502, code: 'UPSTREAM_DOWN', detail: 'the server does not answer' }, { status: 502 }),
  )
  render(<SavingsLine session={session} nodes={[]} picker="all" />, { wrapper: withQueries() })
  await screen.findByText(/^Not compared with a chat pipeline: .*the server does not answer/)
})
