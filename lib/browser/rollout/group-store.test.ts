import { afterEach, expect, test, vi } from 'vitest'
import type { GroupLine } from '#lib/api/group-line.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { createGroupStore, type GroupState } from './group-store.ts'

const turns = [
  { messages: [{ role: 'user', content: 'q' } as const], reply: [65, 66, 67], finish: { kind: 'stop' } as const },
]
const { events, trajectory } = simulateRollout(chatml, turns)
const SAMPLES = 3
/** The events of all samples, alternating between them. */
const all: readonly GroupLine[] = events.flatMap((event) =>
  Array.from({ length: SAMPLES }, (_, sample) => ({
    sample,
    event,
    ...(event.type === 'ended' && { scored: { reward: sample, why: 'because' } }),
  })),
)

afterEach(() => vi.unstubAllGlobals())

/** Returns a server that sends `lines` from the requested number on, `atOnce` of them in one connection. */
function telling(lines: readonly unknown[], atOnce = lines.length) {
  const asked: number[] = []
  vi.stubGlobal('window', { localStorage: { getItem: () => null } })
  vi.stubGlobal('fetch', async (path: string) => {
    const from = Number(new URL(path, 'http://x').searchParams.get('from'))
    asked.push(from)
    return new Response(
      lines
        .slice(from, from + atOnce)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    )
  })
  return asked
}

function followed(shown: number | undefined, samples = SAMPLES) {
  const store = createGroupStore((action) => setImmediate(action))
  store.show(shown)
  const states: GroupState[] = []
  const over = new Promise<void>((resolve) => {
    store.subscribe(() => {
      states.push(store.state())
      if (store.state().kind !== 'following') resolve()
    })
  })
  store.follow('g', samples)
  return { store, states, over }
}

const shownIn = (state: GroupState) =>
  'trajectory' in state && state.trajectory ? unpack(state.trajectory) : undefined

test('The group store builds the shown sample and counts the others; another one is built when it is shown', async () => {
  telling(all)
  const { store, over } = followed(1)
  await over
  const state = store.state()
  expect(state).toMatchObject({ kind: 'ended', samples: [0, 1, 2].map((reward) => ({ scored: { reward } })) })
  const tokens = trajectory.segments.reduce((sum, { ids }) => sum + ids.length, 0)
  if (state.kind === 'ended')
    for (const { progress } of state.samples)
      expect(progress).toMatchObject({ state: 'ended', tokens, outcome: 'end_turn' })
  expect(shownIn(state)).toEqual(trajectory)
  store.show(2)
  expect(shownIn(store.state())).toEqual(trajectory)
  store.show(undefined)
  expect(shownIn(store.state())).toBeUndefined()
})

test('The group store resumes a broken connection at the last event', async () => {
  const asked = telling(all, 20)
  const { store, states, over } = followed(0)
  await over
  expect(asked).toEqual(Array.from({ length: Math.ceil(all.length / 20) }, (_, n) => 20 * n))
  expect(states.some((state) => 'isConnected' in state && !state.isConnected)).toBe(true)
  expect(shownIn(store.state())).toEqual(trajectory)
})

test('The group store ignores unknown samples', async () => {
  telling(all)
  const { store, over } = followed(0, 2)
  await over
  expect(store.state()).toMatchObject({ kind: 'ended', samples: [{}, {}] })
})

test('The group store reports contradictory events, and a group that no longer exists', async () => {
  telling([{ sample: 0, event: events[1] }])
  const broken = followed(0)
  await broken.over
  expect(broken.store.state()).toMatchObject({ kind: 'unavailable', error: { code: 'BAD_EVENTS' } })
  vi.stubGlobal('fetch', async () => new Response('{"code":"NO_GROUP","detail":"gone"}', { status: 404 }))
  const gone = followed(0)
  await gone.over
  expect(gone.store.state()).toMatchObject({ kind: 'unavailable', error: undefined })
})

test('The group store stops showing a sample that continues by itself', async () => {
  telling(all)
  const { store, over } = followed(0)
  await over
  store.leaveOut(0)
  expect(shownIn(store.state())).toBeUndefined()
  store.reset()
  expect(store.state()).toEqual({ kind: 'idle' })
})
