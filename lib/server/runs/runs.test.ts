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

describe('A run whose segment cannot be stored', () => {
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

  /** Starts a run on a disk that is full from its first segment on. */
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

  test('ends as failed with the name of the failure, sends its readers no unstored segment, and logs the cause', async () => {
    const { runs } = onFullDisk()
    const heard = await all(runs.follow('r', 0, never))
    expect(heard.filter(({ type }) => type === 'segment')).toEqual([])
    expect(heard.at(-1)).toEqual({ type: 'ended', outcome })
    expect(console.error).toHaveBeenCalledWith('a rollout broke:', full)
  })

  test('has its segment and its end stored as soon as that is possible', async () => {
    const { runs, saved, disk } = onFullDisk()
    await all(runs.follow('r', 0, never))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(saved).toHaveLength(1)
    disk.isFull = false
    await vi.advanceTimersByTimeAsync(5_000)
    expect(saved.slice(1)).toMatchObject([{ record: { outcome, segments: [{ kind: 'prompt' }] }, from: 0 }])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(saved).toHaveLength(2)
  })

  test('blocks a further run until its end is stored, and once more then, because the record has changed', async () => {
    const { runs, saved, disk, begin } = onFullDisk()
    await all(runs.follow('r', 0, never))
    expect(() => begin('again')).toThrow(full)
    disk.isFull = false
    expect(() => begin('again')).toThrow(HttpProblem)
    expect(saved).toHaveLength(2)
    begin('again')
    expect((await all(runs.follow('again', 0, never))).at(-1)).toEqual(script.at(-1))
  })

  test('has its end stored by a shutdown, if that is possible by then', async () => {
    const { runs, saved, disk } = onFullDisk()
    await all(runs.follow('r', 0, never))
    disk.isFull = false
    await runs.cancelAll()
    expect(saved).toMatchObject([{}, { record: { outcome } }])
  })

  test('ends for its readers even if a listener of its events fails', async () => {
    const runs = createRuns()
    const save = (): never => {
      throw full
    }
    const onEvent = (event: RolloutEvent) => {
      if (event.type === 'ended') throw full
    }
    runs.start({ rolloutId: 'r', key: 't', detached: true, events, save, onEvent })
    expect((await all(runs.follow('r', 0, never))).at(-1)).toEqual({ type: 'ended', outcome })
    await runs.cancel('r')
  })
})

test('A run sends the same events to readers that come late, leave or come back', async () => {
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

test('A run saves every closed segment before its readers hear of it', async () => {
  const { runs, saved, next } = start()
  const savedCounts: number[] = []
  const reading = (async () => {
    for await (const line of runs.follow('r-t', 0, never))
      if (eventIn(line).type === 'segment') savedCounts.push(saved.at(-1)?.segments.length ?? 0)
  })()
  for (let i = 0; i < script.length; i++) await next()
  await reading
  expect(savedCounts).toEqual([1, 2])
  expect(saved.at(-1)).toEqual(trajectory)
  expect(saved.every((record) => !('live' in record))).toBe(true)
})

test('A run excludes another one on the same trajectory, but not on others', async () => {
  const { runs, next } = start()
  await next()
  expect(() => start({}, runs)).toThrow(HttpProblem)
  await start({ key: 'other' }, runs).next()
  await runs.cancelAll()
  expect(() => start({}, runs)).not.toThrow()
})

test('A run that is cancelled ends with the tokens so far', async () => {
  const { runs, saved, next, stopped } = start()
  await next()
  await runs.cancel('r-t')
  expect([stopped(), saved.at(-1)?.outcome]).toEqual([true, { kind: 'ended', reason: 'cancelled' }])
})

test('The runs keep the latest events of ended rollouts up to a number of bytes, and always those of a running one', async () => {
  const bytes = script.reduce((sum, event) => sum + JSON.stringify(event).length + 1 + LINE_BYTES, 0)
  const runs = createRuns({ keptBytes: 2.5 * bytes })
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

test('A run sends all events to a reader that has begun, however long ago the run ended', async () => {
  const runs = createRuns({ keptBytes: 0 })
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

test('A run that does not exist is a problem', async () => {
  const runs = createRuns()
  expect(() => runs.follow('nope', 0, never)).toThrow(HttpProblem)
  await expect(runs.cancel('nope')).rejects.toThrow(HttpProblem)
})

test('A run that crashes ends and keeps its segments', async () => {
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

describe('A run without a reader', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('stops after a minute if it is detached, not earlier, and not while a reader follows', async () => {
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

  test('gets another minute with each look at its trajectory', async () => {
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

  test('is not affected by a look while a reader follows', async () => {
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

  test('gets three minutes from a reader that only reads the events so far', async () => {
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

  test('leaves no timer after its end, which would keep its request in memory', async () => {
    const { next, runs } = start()
    for (let i = 0; i < script.length + 1; i++) await next()
    expect(await all(runs.follow('r-t', 0, never))).toHaveLength(script.length)
    expect(vi.getTimerCount()).toBe(0)
  })
})
