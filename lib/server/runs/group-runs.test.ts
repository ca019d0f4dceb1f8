import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GroupLine } from '#lib/api/group-line.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { HttpProblem } from '../http/problem.ts'
import { createGroupRuns } from './group-runs.ts'
import { createRuns } from './runs.ts'

const turns = [
  { messages: [{ role: 'user', content: 'q' } as const], reply: [65, 66], finish: { kind: 'stop' } as const },
]
const { events: script } = simulateRollout(chatml, turns)
const never = new AbortController().signal
const settled = () => new Promise((resolve) => setImmediate(resolve))

function started(samples: number, keptBytes?: number) {
  const runs = createRuns()
  const groups = createGroupRuns(runs, keptBytes)
  const goes: (() => void)[] = []
  const stopped: number[] = []
  const options = Array.from({ length: samples }, (_, sample) => ({
    rolloutId: `r${sample}`,
    key: `t${sample}`,
    detached: true,
    save: () => {},
    async *events(signal: AbortSignal): AsyncGenerator<RolloutEvent> {
      yield script[0] as RolloutEvent
      for (const event of script.slice(1)) {
        await new Promise<void>((resolve) => {
          goes[sample] = resolve
          signal.addEventListener('abort', () => resolve())
        })
        if (signal.aborted) {
          stopped.push(sample)
          yield { type: 'ended', outcome: { kind: 'ended', reason: 'cancelled' } }
          return
        }
        yield event
      }
    },
  }))
  groups.start('g', options, (sample) => (sample === 0 ? { reward: 1, why: 'it fits' } : undefined))
  /** Lets a sample emit this many of its events. */
  const next = async (sample: number, events = 1) => {
    for (let n = 0; n < events; n++) {
      await settled()
      goes[sample]?.()
    }
    await settled()
  }
  return { runs, groups, next, stopped }
}

const all = async (lines: AsyncIterable<Uint8Array>) => {
  const list: GroupLine[] = []
  for await (const line of lines) list.push(JSON.parse(new TextDecoder().decode(line)))
  return list
}
const eventsOf = (lines: readonly GroupLine[], sample: number) =>
  lines.filter((line) => line.sample === sample).map(({ event }) => event)

test('A group has one stream with the events of all samples, which can be read from any line on', async () => {
  const { groups, next } = started(3)
  const reading = all(groups.follow('g', 0, never))
  await next(1, 2)
  await next(0, script.length - 1)
  await next(2, script.length - 1)
  await next(1, script.length - 3)
  const lines = await reading
  for (const sample of [0, 1, 2]) expect(eventsOf(lines, sample)).toEqual(script)
  expect(lines.slice(0, 6).map(({ sample }) => sample)).toEqual([0, 1, 2, 1, 1, 0])
  expect(await all(groups.follow('g', 5, never))).toEqual(lines.slice(5))
})

test('A group returns only the lines so far to a reader with until=now', async () => {
  const { groups, next } = started(2)
  await next(0)
  const lines = await all(groups.follow('g', 0, never, 'now'))
  expect(lines.map(({ sample }) => sample)).toEqual([0, 1, 0])
  expect(await all(groups.follow('g', 3, never, 'now'))).toEqual([])
  await groups.cancel('g')
})

test('A group sends the result of a rule with the end of its sample, and nowhere else', async () => {
  const { groups, next } = started(2)
  for (const sample of [0, 1]) await next(sample, script.length - 1)
  const lines = await all(groups.follow('g', 0, never))
  expect(lines.flatMap(({ sample, event, scored }) => (scored ? [[sample, event.type, scored.reward]] : []))).toEqual([
    [0, 'ended', 1],
  ])
})

test('A group can be cancelled as a whole, and each sample separately', async () => {
  const { runs, groups, next, stopped } = started(3)
  await next(0)
  await runs.cancel('r1')
  expect(stopped).toEqual([1])
  await groups.cancel('g')
  expect(stopped.sort()).toEqual([0, 1, 2])
  expect((await all(groups.follow('g', 0, never))).filter(({ event }) => event.type === 'ended')).toHaveLength(3)
})

test('A group that ended gives up its events for those of the next one', async () => {
  const { runs, groups, next } = started(1, 1)
  await next(0, script.length - 1)
  expect(await all(groups.follow('g', 0, never))).toHaveLength(script.length)
  const events = async function* () {
    yield* script
  }
  groups.start('h', [{ rolloutId: 'r', key: 'u', detached: true, save: () => {}, events }], () => undefined)
  await all(groups.follow('h', 0, never))
  expect(() => groups.follow('g', 0, never)).toThrow(HttpProblem)
  await runs.cancelAll()
})

test('A group that does not exist is a problem', async () => {
  const { groups } = started(1)
  expect(() => groups.follow('nope', 0, never)).toThrow(HttpProblem)
  await expect(groups.cancel('nope')).rejects.toThrow(HttpProblem)
  await groups.cancel('g')
})

describe('A group without a reader', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('has its samples stopped after a minute; a reader of the group counts as a reader of all samples', async () => {
    const { runs, groups, next, stopped } = started(2)
    const leaving = new AbortController()
    const reading = all(groups.follow('g', 0, leaving.signal))
    const one = new AbortController()
    await next(0)
    // A reader of one sample who leaves does not affect the reader of the group.
    const single = all(runs.follow('r1', 0, one.signal))
    await settled()
    one.abort()
    await single
    vi.advanceTimersByTime(300_000)
    expect(stopped).toEqual([])
    leaving.abort()
    await reading
    vi.advanceTimersByTime(59_000)
    expect(stopped).toEqual([])
    vi.advanceTimersByTime(2_000)
    await settled()
    expect(stopped).toEqual([0, 1])
  })

  test('can be followed again after its end', async () => {
    const { groups, next } = started(1)
    await next(0, script.length - 2)
    expect(groups.isRunning('g')).toBe(true)
    await next(0)
    expect(groups.isRunning('g')).toBe(false)
    expect(await all(groups.follow('g', 0, never))).toHaveLength(script.length)
  })
})
