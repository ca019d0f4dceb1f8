import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, within } from '@testing-library/react'
import type { ReactNode } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { storeToken } from '#lib/browser/api.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { CallForest } from './call-forest.tsx'
import { type CallNode, nodesOf } from './call-texts.ts'
import { EmptySessions } from './empty-sessions.tsx'
import { FirstDifference } from './first-difference.tsx'
import { RewardField } from './reward-field.tsx'
import { SessionTable } from './session-table.tsx'
import { SetupLine } from './setup-line.tsx'
import { testCall, testSession } from './test-sessions.ts'

const session = testSession

const withQueries = (children: ReactNode) => (
  <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
)

beforeEach(() => storeToken('a-token'))

test('The table of sessions shows the numbers of each session and selects one by its button', () => {
  const onSelect = vi.fn()
  render(
    <SessionTable
      sessions={[session, { ...session, id: 'ses_2', state: 'idle' }]}
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
  })) as unknown as CallNode[]
  render(<CallForest nodes={nodes} selected={0} focused={undefined} onSelect={onSelect} />)
  expect(screen.getAllByText('1,204 + 86')).toHaveLength(2)
  fireEvent.click(screen.getByRole('button', { name: 'Call 1, reply 2' }))
  expect(onSelect).toHaveBeenCalledWith(1)
})

test('The forest of 1,024 calls mounts only the rows that are visible, and shows the selected one', () => {
  const nodes = nodesOf(
    Array.from({ length: 1_024 }, (_, index) => {
      const call = testCall(index + 1, { kind: 'continued' })
      return { ...call, nodes: call.nodes.map((node) => ({ ...node, parent: index === 0 ? null : 0 })) }
    }),
  )
  render(<CallForest nodes={nodes} selected={1_023} focused={undefined} onSelect={() => {}} />)
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
  render(withQueries(<RewardField session={session} onMessage={onMessage} />))
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

test('A changed history names the first token that differs from the other call, not the first one of its own', () => {
  const queries = new QueryClient()
  const outcome = { kind: 'ended', reason: 'end_turn' }
  const trajectory = (id: number) =>
    ({ outcome, segments: [{ kind: 'prompt', ids: [1, 2, id] }] }) as unknown as TrajectoryView
  queries.setQueryData(trajectoryOptions('own').queryKey, trajectory(3))
  queries.setQueryData(trajectoryOptions('other').queryKey, trajectory(4))
  render(
    <QueryClientProvider client={queries}>
      <FirstDifference own="own" other="other" />
    </QueryClientProvider>,
  )
  expect(screen.getByText('first difference at token 2')).toBeTruthy()
})
