import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreError } from '#lib/store/store-error.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { HttpProblem } from '../http/problem.ts'
import { createRuns, LINE_BYTES, type Runs } from './runs.ts'

const turns = [
  { messages: [{ role: 'user', content: 'q' } as const], reply: [65, 66], finish: { kind: 'stop' } as const },
]
const { events: script, trajectory } = simulateRollout(chatml, turns)

interface Started {
  readonly runs: Runs
  readonly saved: Trajectory[]
  /** Lets the next event happen. */
  readonly next: () => Promise<void>
  readonly stopped: () => boolean
}

function start({ detached = true, fails = false, key = 't' } = {}, runs = createRuns()): Started {
  const saved: Trajectory[] = []
  let go: () => void = () => {}
  let wasStopped = false
  const events = async function* (signal: AbortSignal): AsyncGenerator<RolloutEvent> {
    for (const [index, event] of script.entries()) {
      await new Promise<void>((resolve) => {
        go = resolve
        signal.addEventListener('abort', () => resolve())
      })
      if (signal.aborted) {
        wasStopped = true
        yield { type: 'ended', outcome: { kind: 'ended', reason: 'cancelled' } }
        return
      }
      if (fails && index === 4) throw new Error('ours')
      yield event
    }
  }
  runs.start({ rolloutId: `r-${key}`, key, detached, events, save: (record) => saved.push(record) })
  const next = async () => {
    go()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { runs, saved, next, stopped: () => wasStopped }
}

const eventIn = (line: Uint8Array): RolloutEvent => JSON.parse(new TextDecoder().decode(line))

const all = async (lines: AsyncIterable<Uint8Array>) => {
  const list: RolloutEvent[] = []
  for await (const line of lines) list.push(eventIn(line))
  return list
}

const never = new AbortController().signal

test('A run that breaks ends for its readers as INTERNAL, and a run on another trajectory works', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const runs = createRuns()
  const events = async function* () {
    yield* script
  }
  const save = (): never => {
    throw new Error('disk is full')
  }
  runs.start({ rolloutId: 'r', key: 't', detached: true, events, save })
  expect((await all(runs.follow('r', 0, never))).at(-1)).toMatchObject({
    outcome: { kind: 'failed', code: 'INTERNAL' },
  })
  await runs.cancel('r')
  expect(log).toHaveBeenCalled()
  log.mockRestore()
  runs.start({ rolloutId: 'again', key: 'u', detached: true, events, save: () => {} })
  expect(await all(runs.follow('again', 0, never))).toEqual(script)
})

describe('a run whose segment cannot be stored', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    vi.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const full = new StoreError('DISK_FULL', 'there is no space left to write x', 'Make room.')
  const outcome = {
    kind: 'failed',
    code: 'DISK_FULL',
    message: 'The run could not be stored: there is no space left to write x',
    hint: 'Make room.',
  }
  const events = async function* () {
    yield* script
  }

  /** A run on a disk that is full from its first segment on. */
  function onFullDisk() {
    const runs = createRuns()
    const saved: { readonly record: Trajectory; readonly from: number }[] = []
    const disk = { isFull: true }
    const save = (record: Trajectory, from: number) => {
      if (disk.isFull && saved.length > 0) throw full
      saved.push({ record, from })
    }
    const begin = (rolloutId: string) => runs.start({ rolloutId, key: 't', detached: true, events, save })
    begin('r')
    return { runs, saved, disk, begin }
  }

  test('It ends as failed with the name of the failure, its readers hear of no segment that is not stored, and the cause is logged', async () => {
    const { runs } = onFullDisk()
    const heard = await all(runs.follow('r', 0, never))
    expect(heard.filter(({ type }) => type === 'segment')).toEqual([])
    expect(heard.at(-1)).toEqual({ type: 'ended', outcome })
    expect(console.error).toHaveBeenCalledWith('a rollout broke:', full)
  })

  test('Its end and its segment are stored once that is possible', async () => {
    const { runs, saved, disk } = onFullDisk()
    await all(runs.follow('r', 0, never))
    vi.advanceTimersByTime(60_000)
    expect(saved).toHaveLength(1)
    disk.isFull = false
    vi.advanceTimersByTime(5_000)
    expect(saved.slice(1)).toMatchObject([{ record: { outcome, segments: [{ kind: 'prompt' }] }, from: 0 }])
    vi.advanceTimersByTime(60_000)
    expect(saved).toHaveLength(2)
  })

  test('A further run on it is refused until its end is stored, and once more then, for the record has changed', async () => {
    const { runs, saved, disk, begin } = onFullDisk()
    await all(runs.follow('r', 0, never))
    expect(() => begin('again')).toThrow(full)
    disk.isFull = false
    expect(() => begin('again')).toThrow(HttpProblem)
    expect(saved).toHaveLength(2)
    begin('again')
    expect((await all(runs.follow('again', 0, never))).at(-1)).toEqual(script.at(-1))
  })

  test('Its end is stored by a shutdown where that is possible by then', async () => {
    const { runs, saved, disk } = onFullDisk()
    await all(runs.follow('r', 0, never))
    disk.isFull = false
    await runs.cancelAll()
    expect(saved).toMatchObject([{}, { record: { outcome } }])
  })

  test('It ends for its readers also where one who is told of it fails', async () => {
    const runs = createRuns()
    const save = (): never => {
      throw full
    }
    const told = (event: RolloutEvent) => {
      if (event.type === 'ended') throw full
    }
    runs.start({ rolloutId: 'r', key: 't', detached: true, events, save, told })
    expect((await all(runs.follow('r', 0, never))).at(-1)).toEqual({ type: 'ended', outcome })
    await runs.cancel('r')
  })
})

test('readers may come late, leave, and come back at any event; all see the same', async () => {
  const { runs, next } = start()
  const first = all(runs.follow('r-t', 0, never))
  for (let i = 0; i < 4; i++) await next()
  const leaving = new AbortController()
  const early = all(runs.follow('r-t', 2, leaving.signal))
  await next()
  leaving.abort()
  expect(await early).toEqual(script.slice(2, 5))
  for (let i = 5; i < script.length; i++) await next()
  expect(await first).toEqual(script)
  expect(await all(runs.follow('r-t', 5, never))).toEqual(script.slice(5))
})

test('every closed segment is saved before it is told', async () => {
  const { runs, saved, next } = start()
  const told: number[] = []
  const reading = (async () => {
    for await (const line of runs.follow('r-t', 0, never))
      if (eventIn(line).type === 'segment') told.push(saved.at(-1)?.segments.length ?? 0)
  })()
  for (let i = 0; i < script.length; i++) await next()
  await reading
  expect(told).toEqual([1, 2])
  expect(saved.at(-1)).toEqual(trajectory)
  expect(saved.every((record) => !('live' in record))).toBe(true)
})

test('one rollout at a time on a trajectory; others run beside it', async () => {
  const { runs, next } = start()
  await next()
  expect(() => start({}, runs)).toThrow(HttpProblem)
  await start({ key: 'other' }, runs).next()
  await runs.cancelAll()
  expect(() => start({}, runs)).not.toThrow()
})

test('a cancelled rollout ends with what it has', async () => {
  const { runs, saved, next, stopped } = start()
  await next()
  await runs.cancel('r-t')
  expect([stopped(), saved.at(-1)?.outcome]).toEqual([true, { kind: 'ended', reason: 'cancelled' }])
})

test('the events of ended rollouts are kept up to a number of bytes, the latest ones; those of a running one always', async () => {
  const bytes = script.reduce((sum, event) => sum + JSON.stringify(event).length + 1 + LINE_BYTES, 0)
  const runs = createRuns(2.5 * bytes)
  const { next } = start({ key: 'running' }, runs)
  await next()
  for (const key of ['a', 'b', 'c']) {
    const one = start({ key }, runs)
    for (let i = 0; i < script.length + 1; i++) await one.next()
  }
  expect(() => runs.follow('r-a', 0, never)).toThrow(HttpProblem)
  for (const key of ['b', 'c']) expect(await all(runs.follow(`r-${key}`, 0, never))).toEqual(script)
  const reading = all(runs.follow('r-running', 0, never))
  for (let i = 0; i < script.length; i++) await next()
  expect(await reading).toEqual(script)
})

test('a reader that has begun gets all events, however long ago the rollout has ended', async () => {
  const runs = createRuns(0)
  const { next } = start({}, runs)
  await next()
  const reader = runs.follow('r-t', 0, never)[Symbol.asyncIterator]()
  await reader.next()
  for (let i = 0; i < script.length; i++) await next()
  const other = start({ key: 'other' }, runs)
  for (let i = 0; i < script.length + 1; i++) await other.next()
  expect(() => runs.follow('r-t', 0, never)).toThrow(HttpProblem)
  for (const event of script.slice(1)) expect(eventIn((await reader.next()).value)).toEqual(event)
})

test('what is not there is a problem', async () => {
  const runs = createRuns()
  expect(() => runs.follow('nope', 0, never)).toThrow(HttpProblem)
  await expect(runs.cancel('nope')).rejects.toThrow(HttpProblem)
})

test('a crash of ours ends the rollout and keeps its segments', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { runs, saved, next } = start({ fails: true })
  for (let i = 0; i < 6; i++) await next()
  expect((await all(runs.follow('r-t', 0, never))).at(-1)).toMatchObject({
    type: 'ended',
    outcome: { kind: 'failed', code: 'INTERNAL' },
  })
  expect(saved.at(-1)).toMatchObject({ outcome: { code: 'INTERNAL' }, segments: [{ kind: 'prompt' }] })
  expect(logged).toHaveBeenCalled()
  logged.mockRestore()
})

describe('without a reader', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('a detached rollout is stopped after a minute, not before, and not while somebody listens', async () => {
    const { next, stopped, runs } = start()
    await next()
    vi.advanceTimersByTime(59_000)
    const leaving = new AbortController()
    const reading = all(runs.follow('r-t', 0, leaving.signal))
    await next()
    vi.advanceTimersByTime(300_000)
    expect(stopped()).toBe(false)
    leaving.abort()
    await reading
    vi.advanceTimersByTime(59_000)
    expect(stopped()).toBe(false)
    vi.advanceTimersByTime(2_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(stopped()).toBe(true)
  })

  test('each look at its trajectory gives it another minute', async () => {
    const { next, stopped, runs } = start()
    await next()
    for (let look = 0; look < 3; look++) {
      vi.advanceTimersByTime(59_000)
      runs.lookedAt('t')
      runs.lookedAt('another')
    }
    vi.advanceTimersByTime(59_000)
    expect(stopped()).toBe(false)
    vi.advanceTimersByTime(2_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(stopped()).toBe(true)
    runs.lookedAt('t')
  })

  test('a look changes nothing where somebody reads', async () => {
    const { next, stopped, runs } = start()
    await next()
    const leaving = new AbortController()
    const reading = all(runs.follow('r-t', 0, leaving.signal))
    await next()
    runs.lookedAt('t')
    vi.advanceTimersByTime(300_000)
    expect(stopped()).toBe(false)
    leaving.abort()
    await reading
  })

  test('a reader that only looks at what there is gives it three minutes', async () => {
    const { next, stopped, runs } = start()
    for (let i = 0; i < 3; i++) await next()
    expect(await all(runs.follow('r-t', 1, never, 'now'))).toEqual(script.slice(1, 3))
    vi.advanceTimersByTime(170_000)
    expect(stopped()).toBe(false)
    expect(await all(runs.follow('r-t', 3, never, 'now'))).toEqual([])
    runs.lookedAt('t')
    vi.advanceTimersByTime(170_000)
    expect(stopped()).toBe(false)
    vi.advanceTimersByTime(11_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(stopped()).toBe(true)
  })

  test('an ended one leaves no timer behind, which would keep the request that began it', async () => {
    const { next, runs } = start()
    for (let i = 0; i < script.length + 1; i++) await next()
    expect(await all(runs.follow('r-t', 0, never))).toHaveLength(script.length)
    expect(vi.getTimerCount()).toBe(0)
  })
})
