import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { createRuns } from '../runs/runs.ts'
import type { Services } from '../services.ts'
import { STALLED_MS } from './ndjson.ts'
import { runResponse } from './run-response.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const { events: script } = simulateRollout(chatml, [
  { messages: [{ role: 'user', content: 'q' }], reply: [65], finish: { kind: 'stop' } },
])
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Starts a run that has sent all events but its last, with an answer that is tied to a connection. */
async function tied(runs = createRuns()) {
  const ending = Promise.withResolvers<void>()
  const state = { isStopped: false }
  const events = async function* (signal: AbortSignal): AsyncGenerator<RolloutEvent> {
    yield* script.slice(0, -1)
    signal.addEventListener('abort', () => {
      state.isStopped = true
      ending.resolve()
    })
    await ending.promise
    yield script.at(-1) as RolloutEvent
  }
  const run = runs.start({ rolloutId: 'r', key: 't', detached: false, events, save: () => {} })
  const connection = new AbortController()
  const response = runResponse(run, false, { runs } as unknown as Services, connection.signal)
  await settled()
  return { runs, state, response, connection, end: ending.resolve }
}

test('A run stops when its connection closes', async () => {
  const { state, response, connection } = await tied()
  connection.abort()
  await response.body?.cancel()
  expect(state.isStopped).toBe(true)
})

test('A run with a slow reader continues, and can be followed again for as long as a detached one', async () => {
  const { runs, state, response, end } = await tied()
  vi.advanceTimersByTime(STALLED_MS)
  await settled()
  const lines = (await response.text()).trimEnd().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'stream-closed', next: lines.length - 1 })
  expect(state.isStopped).toBe(false)
  const rest = runs.follow('r', lines.length - 1, new AbortController().signal)
  end()
  let count = 0
  for await (const _ of rest) count++
  expect(lines.length - 1 + count).toBe(script.length)
  expect(state.isStopped).toBe(false)
})

test('A run stops a minute after its slow reader left, if nobody follows it again', async () => {
  const { state } = await tied()
  vi.advanceTimersByTime(STALLED_MS)
  await settled()
  vi.advanceTimersByTime(60_000)
  expect(state.isStopped).toBe(true)
})

test('The events of a run end well for a slow reader after later runs have taken the room of ended ones', async () => {
  const runs = createRuns({ keptBytes: 0 })
  const { response, end } = await tied(runs)
  end()
  await expect.poll(() => all(runs.follow('r', 0, new AbortController().signal))).toBe(script.length)
  const events = async function* (): AsyncGenerator<RolloutEvent> {
    yield* script
  }
  runs.start({ rolloutId: 'later', key: 'u', detached: false, events, save: () => {} })
  await expect.poll(() => all(runs.follow('later', 0, new AbortController().signal))).toBe(script.length)
  await expect.poll(() => isForgotten(() => runs.follow('r', 0, new AbortController().signal))).toBe(true)
  expect((await response.text()).trimEnd().split('\n')).toHaveLength(script.length)
})

async function all(lines: AsyncIterable<Uint8Array>): Promise<number> {
  let count = 0
  for await (const _ of lines) count++
  return count
}

function isForgotten(follow: () => unknown): boolean {
  try {
    follow()
    return false
  } catch {
    return true
  }
}
