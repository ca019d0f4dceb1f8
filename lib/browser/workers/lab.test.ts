import { afterEach, describe, expect, test, vi } from 'vitest'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { inThisThread, stuckWorker } from '#testing/worker.ts'
import { createLab } from './lab.ts'
import { TaskError } from './task-error.ts'
import type { HostDeps } from './task-host.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Tasks of these tests; their names are independent of the lab's own tasks. */
const tasks: HostDeps<LabTokenizer>['tasks'] = {
  *echo(request: unknown) {
    yield 'begun'
    return request
  },
  *count(until: number) {
    for (let i = 0; i < until; i++) yield i
    return until
  },
  *forever() {
    for (let i = 0; ; i++) yield i
  },
  late: {
    load: async () =>
      function* (request: unknown) {
        yield 'begun'
        return request
      },
  },
  missing: { load: () => Promise.reject(new Error('no such module')) },
  *broken() {
    yield 'begun'
    throw new TypeError('no such thing')
  },
  *encode(text: string, [chosen]) {
    yield 'begun'
    return chosen?.tokenizer.encode(text)
  },
}

const hold: HostDeps<LabTokenizer>['hold'] = (given) => {
  if (given.kind !== 'tokenizer') return expect.unreachable()
  if (given.name === 'bad') throw new TokenizerError('TOKENIZER_BROKEN', 'bad is broken', 'download it again')
  return { tokenizer: byteTokenizer, compile: () => expect.unreachable() }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const working = () => inThisThread({ tasks, hold })

function lab(makers: readonly (() => ReturnType<typeof inThisThread>)[] = []) {
  const workers: ReturnType<typeof inThisThread>[] = []
  const fetched: string[] = []
  const { run, dispose } = createLab({
    createWorker: () => {
      const made = (makers[workers.length] ?? working)()
      workers.push(made)
      return made as never
    },
    fetchTokenizer: async (name) => {
      fetched.push(name)
      if (name === 'missing' && fetched.length === 1) throw new Error('not found')
      return new TextEncoder().encode(name).buffer
    },
    stepMs: 5_000,
    cancelledStepMs: 1_000,
    tooLongHint: 'It was too much.',
  })
  const runTask = run as unknown as (
    name: string,
    request: unknown,
    options?: { tokenizers?: string[]; signal?: AbortSignal; onProgress?: (progress: unknown) => void },
  ) => Promise<unknown>
  return {
    run: ((name, request, options = {}) =>
      runTask(name, request, { tokenizers: [], signal: new AbortController().signal, ...options })) as typeof runTask,
    dispose,
    workers,
    fetched,
  }
}

describe('a worker task', () => {
  test('returns its result after every progress in order', async () => {
    const progressReports: unknown[] = []
    expect(await lab().run('count', 1000, { onProgress: (progress) => progressReports.push(progress) })).toBe(1000)
    expect(progressReports).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  })

  test('that throws is reported with its message', async () => {
    await expect(lab().run('broken', null)).rejects.toEqual(new TaskError('TASK_FAILED', 'no such thing'))
  })

  test('is cancelled while it runs, and the worker continues', async () => {
    const { run, workers } = lab()
    const controller = new AbortController()
    let reports = 0
    const running = run('forever', null, {
      signal: controller.signal,
      onProgress: () => {
        if (reports++ === 0) controller.abort(new Error('enough'))
      },
    })
    await expect(running).rejects.toThrow('enough')
    expect(await run('echo', 'next')).toBe('next')
    expect(workers).toHaveLength(1)
    const soFar = reports
    await nextTurn()
    expect(reports).toBe(soFar)
  })

  test('does nothing if it was cancelled before it began', async () => {
    const { run, workers } = lab()
    await expect(run('echo', 1, { signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow('late')
    expect(workers).toHaveLength(0)
  })

  test('runs when its module has loaded, and fails if the module does not load', async () => {
    const { run } = lab()
    expect(await run('late', 1)).toBe(1)
    await expect(run('missing', 1)).rejects.toThrow('no such module')
  })

  test('waits for no other task', async () => {
    const { run, dispose } = lab()
    const search = run('forever', null)
    expect(await run('count', 50)).toBe(50)
    dispose()
    await expect(search).rejects.toMatchObject({ code: 'STOPPED' })
  })

  test('that cannot be sent is refused', async () => {
    await expect(lab().run('echo', () => 1)).rejects.toThrow(/could not be cloned/)
  })
})

describe('a tokenizer for a worker task', () => {
  test('is fetched once, before its task begins', async () => {
    const { run, fetched } = lab()
    const [a, b] = await Promise.all([
      run('encode', 'a', { tokenizers: ['bytes'] }),
      run('encode', 'b', { tokenizers: ['bytes'] }),
    ])
    expect([a, b]).toEqual([byteTokenizer.encode('a'), byteTokenizer.encode('b')])
    expect(fetched).toEqual(['bytes'])
  })

  test('is fetched again with the next task if it failed', async () => {
    const { run } = lab()
    await expect(run('encode', 'a', { tokenizers: ['missing'] })).rejects.toThrow('not found')
    expect(await run('encode', 'a', { tokenizers: ['missing'] })).toEqual(byteTokenizer.encode('a'))
  })

  test('reports its own error if it is broken', async () => {
    await expect(lab().run('encode', 'a', { tokenizers: ['bad'] })).rejects.toEqual(
      new TaskError('TOKENIZER_BROKEN', 'bad is broken', 'download it again'),
    )
  })
})

describe('a task worker', () => {
  test('is replaced if its task ends no step; the task fails, and the others begin again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { run, workers, dispose } = lab([stuckWorker])
    const first = run('echo', 'first', { tokenizers: ['bytes'] })
    while (workers[0]?.got.at(-1)?.kind !== 'run') await nextTurn()
    const failure = expect(first).rejects.toMatchObject({
      code: 'TOO_LONG',
      message: expect.stringMatching('5 seconds'),
    })
    await nextTurn()
    await nextTurn()
    const second = run('forever', null).catch((error) => error)
    const third = run('encode', 'third', { tokenizers: ['bytes'] })
    // The stuck worker never reaches these tasks; the time limit applies to the first one.
    vi.advanceTimersByTime(5_000)
    await failure
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false, true])
    expect(await third).toEqual(byteTokenizer.encode('third'))
    dispose()
    expect(await second).toMatchObject({ code: 'STOPPED' })
  })

  test('that fails rejects its tasks; the next task gets another worker', async () => {
    const { run, workers } = lab([stuckWorker])
    const first = run('echo', 1)
    workers[0]?.onerror?.({ message: 'no such module' } as ErrorEvent)
    await expect(first).rejects.toMatchObject({
      code: 'WORKER_FAILED',
      message: expect.stringMatching('no such module'),
    })
    expect(await run('echo', 2)).toBe(2)
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false, true])
  })

  test('ends with the page', async () => {
    const { run, dispose, workers } = lab()
    await run('echo', 1)
    dispose()
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false])
  })
})
