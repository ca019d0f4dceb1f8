/** The dialog of the chat baseline on servers of each engine. */
import { QueryClient } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { beforeAll, expect, test, vi } from 'vitest'
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { knownStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { BaselineDialog } from './baseline-dialog.tsx'

beforeAll(() => {
  // jsdom has no dialogs.
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true
  }
})

const run = exampleTrajectory('two-steps')
const sampledOn = (server: string, more: object = {}): Trajectory => ({
  ...run,
  segments: run.segments.map((segment) =>
    segment.kind === 'response' && segment.request
      ? { ...segment, request: { ...segment.request, server, ...more } }
      : segment,
  ),
})

function show(trajectory: Trajectory, capabilities?: ServerCapabilities): HTMLButtonElement {
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  cache.setQueryData(serversOptions().queryKey, { servers: [{ name: 's' }], default: 's' } as never)
  if (capabilities) cache.setQueryData(knownStatusOptions('s').queryKey, { state: 'ready', capabilities } as never)
  render(<BaselineDialog trajectory={trajectory} runKey="k" onPair={vi.fn()} onClose={vi.fn()} />, {
    wrapper: withQueries(cache),
  })
  return screen.getByRole<HTMLButtonElement>('button', { name: 'Run the chat baseline', hidden: true })
}

test.each(Object.entries(ENGINE_CAPABILITIES))(
  'The chat baseline of a run on %s can be started if its chat endpoint returns ids; else its button is disabled with the reason',
  (_, capabilities) => {
    expect(show(sampledOn('s'), capabilities).disabled).toBe(!capabilities.chatIds)
    expect(screen.queryAllByText(/returns no token ids from its chat endpoint/)).toHaveLength(
      capabilities.chatIds ? 0 : 1,
    )
  },
)

test('The chat baseline is disabled for sampling parameters that no chat endpoint accepts', () => {
  expect(show(sampledOn('s', { samplingParams: { json_schema: '{}' } }), ENGINE_CAPABILITIES.sglang).disabled).toBe(
    true,
  )
  expect(screen.getByText('/v1/chat/completions does not accept json_schema.')).toBeDefined()
})

test('The chat baseline is disabled if the server of the run is not among the saved ones', () => {
  expect(show(sampledOn('elsewhere')).disabled).toBe(true)
  expect(screen.getByText('The run was sampled on elsewhere, which is not among the servers here.')).toBeDefined()
})
