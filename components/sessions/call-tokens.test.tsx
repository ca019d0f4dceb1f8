import { QueryClient } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { storeToken } from '#lib/browser/api.ts'
import { pageReader } from '#lib/browser/page-reader.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { testCall } from '#testing/sessions.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { type CallEntry, callEntries, nodesOfCalls, type SessionCallNode } from './call-texts.ts'
import { CallTokens } from './call-tokens.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
}))
vi.mock('#components/token-view/grid/token-grid.tsx', () => ({
  TokenGrid: ({ trajectory }: { readonly trajectory: TrajectoryView }) => <p>{trajectory.segments.length} segments</p>,
}))

test('The tokens of a session are read once, and again when a call adds segments to their path', async () => {
  let segments = 2
  const read = vi.spyOn(pageReader, 'call').mockImplementation(
    async () =>
      ({
        outcome: { kind: 'ended', reason: 'end_turn' },
        model: {},
        vocab: {},
        segments: Array.from({ length: segments }, () => ({ kind: 'prompt', ids: [1], messages: [] })),
      }) as never,
  )
  const call = testCall(1, { kind: 'new-root' })
  const show = (nodes: readonly SessionCallNode[]) => (
    <CallTokens sessionId="ses_1" entry={nodes[0] as SessionCallNode} nodes={nodes} />
  )
  const { rerender, findByText } = render(show(nodesOfCalls([call])), { wrapper: withQueries() })
  await findByText('2 segments')
  // The page reads the calls of the session again and again. They are equal, and later those of another path.
  const other = testCall(2, { kind: 'new-root' })
  for (const calls of [[{ ...call }], [{ ...call }, other]]) await act(async () => rerender(show(nodesOfCalls(calls))))
  expect(read).toHaveBeenCalledOnce()
  segments = 4
  const next = testCall(3, { kind: 'continued' })
  const grown = { ...next, nodes: next.nodes.map((node) => ({ ...node, trajectory: 'key 1', segments: 4 })) }
  await act(async () => rerender(show(nodesOfCalls([call, other, grown]))))
  await findByText('4 segments')
  expect(read).toHaveBeenCalledTimes(2)
})

test('A call that was refused shows its reason and what the client sent', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (address) =>
    String(address) === '/api/sessions/ses_1/calls/2'
      ? Response.json({ request: { model: 'm', ebnf: 'root ::= "a"' } })
      : Response.json({}, { status: 404 }),
  )
  const call = testCall(2, null, { status: 400, error: 'The field ebnf is not supported.', nodes: [] })
  render(<CallTokens sessionId="ses_1" entry={{ call, node: undefined }} nodes={[]} />, { wrapper: withQueries() })
  expect(screen.getByText('refused status 400')).toBeTruthy()
  expect(screen.getByText('The field ebnf is not supported.')).toBeTruthy()
  expect((await screen.findByText(/"ebnf": "root/)).textContent).toContain('"model": "m"')
})

test('The tokens of a running reply appear as they arrive, and stay until the stored ones are read', async () => {
  storeToken('a-token')
  const lines = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const stream = new ReadableStream<Uint8Array>({ start: lines.resolve })
  const followed = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(stream))
  vi.spyOn(pageReader, 'call').mockReturnValue(new Promise(() => {}))
  const client = new QueryClient()
  const readAgain = vi.spyOn(client, 'invalidateQueries')
  const show = (entry: CallEntry) => <CallTokens sessionId="ses_1" entry={entry} nodes={[]} />
  const stored = callEntries([testCall(2, { kind: 'continued' })])[0] as CallEntry
  const node = { ...stored.node, status: 'running', trajectory: null } as NonNullable<CallEntry['node']>
  const { rerender } = render(show({ ...stored, node: { ...node, live: 'reply 1' } }), { wrapper: withQueries(client) })
  expect(screen.getByText('The reply is being generated…')).toBeTruthy()
  const started = {
    type: 'started',
    rolloutId: 'reply 1',
    trajectory: { ...sampleTrajectory, outcome: { kind: 'running', rolloutId: 'reply 1' } },
  }
  const send = async (event: object) => (await lines.promise).enqueue(Buffer.from(`${JSON.stringify(event)}\n`))
  await send(started)
  const text = `${sampleTrajectory.segments.length} segments`
  await screen.findByText(text)
  expect(followed.mock.calls[0]?.[0]).toBe('/api/sessions/ses_1/replies/reply%201/events?from=0')
  expect(readAgain).not.toHaveBeenCalled()
  await send({ type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } })
  await expect.poll(() => readAgain.mock.calls).toEqual([[{ queryKey: ['sessions'] }]])
  rerender(show(stored))
  expect(screen.getByText(text)).toBeTruthy()
  rerender(show(callEntries([testCall(1, { kind: 'new-root' })])[0] as CallEntry))
  expect(screen.getByText('Loading…')).toBeTruthy()
  rerender(show({ ...stored, node: { ...node, node: 2 } }))
  expect(screen.getByText('The server sends the whole reply when it has ended.')).toBeTruthy()
})

test('A running reply that continues the shown path appears at its end, and stays until the path is read again', async () => {
  storeToken('a-token')
  const lines = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const stream = new ReadableStream<Uint8Array>({ start: lines.resolve })
  vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(stream))
  const pathOf = (segments: number) => ({
    ...sampleTrajectory,
    segments: Array.from({ length: segments }, () => ({ kind: 'prompt' as const, ids: [1], messages: [] })),
  })
  const read = vi.spyOn(pageReader, 'call').mockResolvedValueOnce(pathOf(2) as never)
  const [shown] = nodesOfCalls([testCall(1, { kind: 'new-root' })]) as [SessionCallNode]
  const show = (...others: readonly SessionCallNode[]) => (
    <CallTokens sessionId="ses_1" entry={shown} nodes={[shown, ...others]} />
  )
  const client = new QueryClient()
  const readAgain = vi.spyOn(client, 'invalidateQueries')
  const { rerender } = render(show(), { wrapper: withQueries(client) })
  await screen.findByText('2 segments')
  const next = nodesOfCalls([testCall(2, { kind: 'continued' })])[0] as SessionCallNode
  const running = {
    ...next.node,
    parent: 0,
    status: 'running' as const,
    trajectory: null,
    segments: 0,
    live: 'reply 1',
  }
  rerender(show({ ...next, node: running }))
  expect(screen.getByText('2 segments')).toBeTruthy()
  const outcome = { kind: 'running', rolloutId: 'reply 1' }
  const started = { type: 'started', rolloutId: 'reply 1', trajectory: { ...pathOf(3), outcome } }
  const send = async (event: object) => (await lines.promise).enqueue(Buffer.from(`${JSON.stringify(event)}\n`))
  await send(started)
  await screen.findByText('3 segments')
  await send({ type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } })
  await expect.poll(() => readAgain.mock.calls).toEqual([[{ queryKey: ['sessions'] }]])
  const reread = Promise.withResolvers<never>()
  read.mockReturnValueOnce(reread.promise)
  await act(async () =>
    rerender(show({ ...next, node: { ...next.node, parent: 0, trajectory: 'key 1', segments: 4 } })),
  )
  expect(screen.getByText('3 segments')).toBeTruthy()
  reread.resolve(pathOf(4) as never)
  await screen.findByText('4 segments')
})
