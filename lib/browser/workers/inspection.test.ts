import { afterEach, describe, expect, test, vi } from 'vitest'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { inThisThread, stuckWorker } from '#testing/worker.ts'
import { createTrajectoryTasks } from './inspection.ts'
import type { HostDeps } from './task-host.ts'

afterEach(() => {
  vi.useRealTimers()
})

const { trajectory } = simulateRollout(chatml, [
  { messages: [{ role: 'user', content: 'q' }], reply: [65, 66, 67], finish: { kind: 'stop' } },
])

/** Tasks of these tests; `find` is the one that runs while the user types. */
const tasks: HostDeps<TrajectoryView>['tasks'] = {
  *find(request: unknown, [held]) {
    yield undefined
    return [request, held]
  },
  *forever() {
    for (;;) yield undefined
  },
  *title(_: null, [held]) {
    yield undefined
    return held?.title
  },
}
const working = () =>
  inThisThread<TrajectoryView>({
    tasks,
    hold: (given) => (given.kind === 'trajectory' ? given.trajectory : expect.unreachable()),
  })

function inspection(makers: readonly (() => ReturnType<typeof inThisThread>)[] = []) {
  const workers: ReturnType<typeof inThisThread>[] = []
  const lane = {
    createWorker: () => {
      const made = (makers[workers.length] ?? working)()
      workers.push(made)
      return made as never
    },
    stepMs: 5_000,
    cancelledStepMs: 1_000,
    tooLongHint: 'It was too much.',
  }
  const made = createTrajectoryTasks({ typed: lane, rest: lane, fetchTokenizer: () => expect.unreachable() })
  const run = (view: TrajectoryView) =>
    made.run(view) as unknown as (
      name: string,
      request: unknown,
      options: { readonly signal: AbortSignal },
    ) => Promise<unknown>
  return { ...made, run, workers }
}

const open = () => ({ signal: new AbortController().signal })
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const kindsOf = (worker: ReturnType<typeof inThisThread> | undefined) => worker?.got.map(({ kind }) => kind)

describe('a trajectory in the inspection worker', () => {
  test('equals that of the page, which keeps its own', async () => {
    const { trajectory: view } = pack(trajectory)
    const { run, dispose } = inspection()
    expect(await run(view)('find', 'q', open())).toEqual(['q', view])
    expect(view.segments[0]?.ids.length).toBeGreaterThan(0)
    dispose()
  })

  test('is transferred once, and released when it is hidden and no task uses it', async () => {
    const { run, release, workers, dispose } = inspection()
    const changed: TrajectoryView = { ...trajectory, title: 'changed' }
    await run(trajectory)('title', null, open())
    expect(await run(trajectory)('title', null, open())).toBeUndefined()
    const controller = new AbortController()
    const running = run(trajectory)('forever', null, { signal: controller.signal })
    await nextTurn()
    release(trajectory)
    expect(await run(changed)('title', null, open())).toBe('changed')
    expect(kindsOf(workers[0])).toEqual(['resource', 'run', 'run', 'run', 'resource', 'run'])
    controller.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect(workers[0]?.got.slice(-2)).toEqual([
      { kind: 'release', name: 'trajectory 1' },
      { kind: 'abort', id: 4 },
    ])
    dispose()
  })

  test('is already there when a find task comes', async () => {
    const { run, prepare, workers, dispose } = inspection()
    prepare(trajectory)
    await nextTurn()
    expect(workers.map(kindsOf)).toEqual([['resource']])
    await run(trajectory)('find', 'q', open())
    expect(workers.map(kindsOf)).toEqual([['resource', 'run']])
    dispose()
  })
})

describe('a find task while the user types', () => {
  test('does not wait for long tasks', async () => {
    const { run, dispose } = inspection()
    const long = run(trajectory)('forever', null, open())
    expect(await run(trajectory)('find', 'q', open())).toEqual(['q', trajectory])
    dispose()
    await expect(long).rejects.toMatchObject({ code: 'STOPPED' })
  })

  test('waits a moment for a cancelled runaway task, then its worker is restarted', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { run, workers, dispose } = inspection([stuckWorker])
    const controller = new AbortController()
    const first = run(trajectory)('find', '(a+)+$', { signal: controller.signal })
    while (workers[0]?.got.at(-1)?.kind !== 'run') await nextTurn()
    await nextTurn()
    controller.abort(new Error('typed on'))
    await expect(first).rejects.toThrow('typed on')
    const second = run(trajectory)('find', 'a', open())
    await nextTurn()
    vi.advanceTimersByTime(999)
    expect(workers).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(await second).toEqual(['a', trajectory])
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false, true])
    dispose()
  })
})
