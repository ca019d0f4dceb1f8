import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { storeToken } from '#lib/browser/api.ts'
import { pageReader } from '#lib/browser/page-reader.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { testCall } from '#testing/sessions.ts'
import { type CallEntry, type CallNode, entriesOf, nodesOf } from './call-texts.ts'
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
        trajectory: {
          outcome: { kind: 'ended', reason: 'end_turn' },
          model: {},
          vocab: {},
          segments: Array.from({ length: segments }, () => ({ kind: 'prompt', ids: [1], messages: [] })),
        },
      }) as never,
  )
  const call = testCall(1, { kind: 'new-root' })
  const show = (nodes: readonly CallNode[]) => (
    <QueryClientProvider client={client}>
      <CallTokens sessionId="ses_1" entry={nodes[0] as CallNode} nodes={nodes} />
    </QueryClientProvider>
  )
  const client = new QueryClient()
  const { rerender, findByText } = render(show(nodesOf([call])))
  await findByText('2 segments')
  // The page reads the calls of the session again and again. They are equal, and later those of another path.
  const other = testCall(2, { kind: 'new-root' })
  for (const calls of [[{ ...call }], [{ ...call }, other]]) await act(async () => rerender(show(nodesOf(calls))))
  expect(read).toHaveBeenCalledOnce()
  segments = 4
  const next = testCall(3, { kind: 'continued' })
  const grown = { ...next, nodes: next.nodes.map((node) => ({ ...node, trajectory: 'key 1', segments: 4 })) }
  await act(async () => rerender(show(nodesOf([call, other, grown]))))
  await findByText('4 segments')
  expect(read).toHaveBeenCalledTimes(2)
})
