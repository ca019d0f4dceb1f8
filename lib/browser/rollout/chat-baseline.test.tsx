import { afterEach, describe, expect, test, vi } from 'vitest'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { type BaselineProgress, runChatBaseline } from './chat-baseline.ts'

const trajectory = exampleTrajectory('two-steps')

interface Call {
  readonly path: string
  readonly body: unknown
}

/** Answers the start request, then sends the events: as lines, or as a stream that stays open until its reader leaves. */
function serving(events: readonly RolloutEvent[], isOpen = false): readonly Call[] {
  const calls: Call[] = []
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    calls.push({ path, body: init.body === undefined ? undefined : JSON.parse(String(init.body)) })
    if (path.endsWith('/cancel')) return new Response('{}')
    if (!path.includes('/events')) return Response.json({ rolloutId: 'r', trajectoryId: 'new' }, { status: 201 })
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    return new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text))
          if (!isOpen) controller.close()
        },
      }),
    )
  })
  return calls
}
afterEach(() => vi.unstubAllGlobals())

const empty: Trajectory = { ...trajectory, segments: [], outcome: { kind: 'running', rolloutId: 'r' } }
const started: RolloutEvent = { type: 'started', rolloutId: 'r', trajectory: empty }
const ended: RolloutEvent = { type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } }

describe('the chat baseline of a trajectory', () => {
  test('is started with the first request of its run, followed, and stored under its key', async () => {
    const calls = serving([started, ended])
    expect(await runChatBaseline(trajectory, { signal: new AbortController().signal })).toBe('new')
    expect(calls.map(({ path }) => path)).toEqual(['/api/rollouts', '/api/rollouts/r/events?from=0'])
    expect(calls[0]?.body).toMatchObject({ endpoint: 'chat', detached: true, tools: ['calculator'] })
  })

  test('reports its progress, and is stopped with its signal', async () => {
    const calls = serving([started], true)
    const controller = new AbortController()
    const seen: BaselineProgress[] = []
    const running = runChatBaseline(trajectory, {
      signal: controller.signal,
      onProgress(progress) {
        seen.push(progress)
        controller.abort(new Error('enough'))
      },
    })
    await expect(running).rejects.toThrow('enough')
    expect(seen[0]).toEqual({ key: 'new', replies: 0, tokens: 0 })
    expect(calls.map(({ path }) => path)).toContain('/api/rollouts/r/cancel')
  })

  test('fails with the run’s message, or with the reason why there is no chat baseline', async () => {
    const outcome = { kind: 'failed', code: 'CHAT_UNSUPPORTED', message: 'no ids', hint: 'another' } as const
    serving([started, { type: 'ended', outcome }])
    const { signal } = new AbortController()
    await expect(runChatBaseline(trajectory, { signal })).rejects.toMatchObject({
      code: 'CHAT_UNSUPPORTED',
      message: 'no ids',
      hint: 'another',
    })
    serving([
      { ...started, trajectory },
      { type: 'ended', outcome },
    ])
    expect(await runChatBaseline(trajectory, { signal })).toBe('new')
    await expect(runChatBaseline(empty, { signal })).rejects.toMatchObject({ code: 'NO_BASELINE' })
  })
})
