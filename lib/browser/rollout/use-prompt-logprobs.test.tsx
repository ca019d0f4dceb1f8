import { QueryClient } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ApiError } from '../api.ts'
import { knownStatusOptions, serversOptions, trajectoryOptions } from '../queries.ts'
import { readerWorker } from '../workers/reader.ts'
import { usePromptLogprobs } from './use-prompt-logprobs.ts'

const KEY = 'sample'
const PATH = `/api/trajectories/${KEY}/prompt-logprobs`
/** A trajectory of a run that did not request prompt logprobs. */
const unscored: Trajectory = {
  ...sample,
  outcome: { kind: 'ended', reason: 'end_turn' },
  segments: sample.segments.slice(0, 2).map((segment) => {
    const { logprobs: _, ...rest } = segment
    return segment.kind === 'prompt' ? (rest as typeof segment) : segment
  }),
}
const scored: Trajectory = { ...unscored, segments: sample.segments.slice(0, 2) }

let cache: QueryClient
let posted: string[]
let answer: () => Promise<Trajectory>
beforeEach(() => {
  cache = new QueryClient()
  cache.setQueryDefaults(serversOptions().queryKey, { staleTime: Number.POSITIVE_INFINITY })
  cache.setQueryData(serversOptions().queryKey, { servers: [{ name: 's' }], default: 's' } as never)
  serve(ENGINE_CAPABILITIES.sglang)
  posted = []
  answer = async () => scored
  vi.spyOn(readerWorker, 'call').mockImplementation((path) => {
    posted.push(path)
    return answer() as Promise<never>
  })
})
afterEach(() => vi.restoreAllMocks())

const serve = (capabilities: ServerCapabilities) =>
  cache.setQueryData(knownStatusOptions('s').queryKey, { state: 'ready', capabilities } as never)

const shown = (trajectory: Trajectory, isNeeded: boolean, key: string | undefined = KEY) =>
  renderHook(({ needed }) => usePromptLogprobs(trajectory, key, needed), {
    initialProps: { needed: isNeeded },
    wrapper: withQueries(cache),
  })

test('Prompt logprobs are requested once when they are first needed, and the stored trajectory is shown with them', async () => {
  const { result, rerender } = shown(unscored, false)
  expect([posted, result.current.isRequesting]).toEqual([[], false])
  rerender({ needed: true })
  expect(result.current.isRequesting).toBe(true)
  await waitFor(() => expect(result.current.isRequesting).toBe(false))
  expect(cache.getQueryData(trajectoryOptions(KEY).queryKey)).toBe(scored)
  rerender({ needed: false })
  rerender({ needed: true })
  expect(posted).toEqual([PATH])
})

test('Prompt logprobs whose request failed are only requested again by hand, even after the page is reopened', async () => {
  answer = () =>
    Promise.reject(new ApiError(409, 'OTHER_MODEL', 'the server s serves another model', 'Start it again.'))
  const first = shown(unscored, true)
  await waitFor(() => expect(first.result.current.failure).toBeDefined())
  first.unmount()
  const { result } = shown(unscored, true)
  expect(result.current).toMatchObject({
    isRequesting: false,
    failure: {
      title: 'The prompt logprobs could not be requested: the server s serves another model',
      hint: 'Start it again.',
    },
  })
  expect(posted).toEqual([PATH])
  answer = async () => scored
  await act(async () => result.current.failure?.retry?.())
  await waitFor(() => expect(result.current.failure).toBeUndefined())
  expect(posted).toEqual([PATH, PATH])
})

test('Prompt logprobs are never requested of a server that returns none: the reason is shown, without another try', () => {
  serve(ENGINE_CAPABILITIES['llama.cpp'])
  const { result } = shown(unscored, true)
  expect([posted, result.current]).toEqual([
    [],
    {
      isRequesting: false,
      failure: {
        title:
          'The prompt logprobs cannot be requested: llama.cpp returns no logprobs of prompts, so it cannot score given ids.',
        hint: 'Choose a server with SGLang or vLLM.',
      },
    },
  ])
})

test.each<[string, Trajectory, string | undefined]>([
  ['is not stored', unscored, undefined],
  ['still runs', { ...unscored, outcome: { kind: 'running' } }, KEY],
  ['has them already', scored, KEY],
  [
    'was sampled on a server that is not saved here',
    {
      ...unscored,
      segments: unscored.segments.map((segment) =>
        segment.kind === 'response' && segment.request
          ? { ...segment, request: { ...segment.request, server: 'elsewhere' } }
          : segment,
      ),
    },
    KEY,
  ],
])('Prompt logprobs are not requested of a trajectory that %s', (_what, trajectory, key) => {
  const { result } = renderHook(() => usePromptLogprobs(trajectory, key, true), {
    wrapper: withQueries(cache),
  })
  expect([posted, result.current]).toEqual([[], { isRequesting: false, failure: undefined }])
})
