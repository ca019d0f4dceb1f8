import { afterEach, expect, test, vi } from 'vitest'
import {
  type Answer,
  type AnswerContext,
  connectWorker,
  createAnswers,
  createOnDemandWorker,
  type ErrorClasses,
  type StartWorker,
} from './worker-protocol.ts'

afterEach(() => void vi.useRealTimers())

class NamedError extends Error {
  override readonly name = 'NamedError'
  readonly code: number
  constructor(message: string, code: number, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
const CLASSES = [NamedError]

/** Returns how a worker of this thread starts, and those that were started. */
function startedBy<Request, Progress>(answer: Answer<Request, unknown, Progress>, classes: ErrorClasses = CLASSES) {
  const workers: { isEnded: boolean; readonly lose: (error: Error) => void }[] = []
  const start: StartWorker = (receive, onGone) => {
    const worker = { isEnded: false, lose: onGone }
    workers.push(worker)
    const take = createAnswers(answer, classes, (message, transfer) => {
      const copy = structuredClone(message, { transfer: [...transfer] })
      queueMicrotask(() => worker.isEnded || receive(copy))
    })
    return {
      post(message, transfer) {
        const copy = structuredClone(message, { transfer: [...transfer] })
        queueMicrotask(() => worker.isEnded || void take(copy as never))
      },
      end() {
        worker.isEnded = true
      },
    }
  }
  return { start, workers }
}
const connected = <Request, Progress>(answer: Answer<Request, unknown, Progress>) => {
  const gone: Error[] = []
  const { start, workers } = startedBy(answer)
  return {
    worker: connectWorker<Request, unknown, Progress>(start, CLASSES, (error) => gone.push(error)),
    workers,
    gone,
  }
}

test('A worker answers concurrent requests, each with its own progress before its result', async () => {
  const { worker } = connected(async (count: number, { report }: AnswerContext<number>) => {
    for (let at = 0; at < count; at++) report(at)
    return `counted to ${count}`
  })
  const progress: number[] = []
  const onProgress = (at: number) => progress.push(at)
  expect(await Promise.all([worker.send(2, { onProgress }), worker.send(0)])).toEqual(['counted to 2', 'counted to 0'])
  expect(progress).toEqual([0, 1])
})

test('Buffers of a request and of its result are transferred', async () => {
  const { worker } = connected((sent: Uint8Array, { transfer }) => {
    transfer.push(sent.buffer as ArrayBuffer)
    return sent
  })
  const sent = new Uint8Array([1, 2])
  expect(await worker.send(sent, { transfer: [sent.buffer] })).toEqual(new Uint8Array([1, 2]))
  expect(sent.byteLength).toBe(0)
})

test('An error of a known class arrives with its class, fields, stack and cause; any other one as an Error', async () => {
  const { worker } = connected((kind: string) => {
    if (kind === 'named') throw new NamedError('no', 7, { cause: new Error('the first') })
    if (kind === 'text') throw 'just a text'
    throw Object.assign(new TypeError('ours'), { callback: () => {} })
  })
  const named = await worker.send('named').catch((error: unknown) => error as NamedError)
  expect(named).toBeInstanceOf(NamedError)
  expect(named).toMatchObject({ name: 'NamedError', code: 7, message: 'no' })
  expect((named as NamedError).stack).toMatch(/Caused by Error: the first/)
  const ours = await worker.send('ours').catch((error: unknown) => error as Error)
  expect(ours).not.toBeInstanceOf(TypeError)
  expect(ours).toMatchObject({ message: 'ours', stack: expect.stringContaining('TypeError: ours') })
  await expect(worker.send('text')).rejects.toThrow('just a text')
})

test('A request or a result that cannot be copied rejects its own request only', async () => {
  const { worker } = connected((returnsFunction: unknown) => (returnsFunction === true ? () => {} : 'fine'))
  await expect(worker.send(() => {})).rejects.toThrow(/could not be cloned/)
  await expect(worker.send(true)).rejects.toThrow(/could not be cloned/)
  expect(await worker.send(false)).toBe('fine')
})

test('An aborted request rejects at once, and the worker reports progress until it notices the abort', async () => {
  const { worker } = connected(
    (_: null, { signal, report }) =>
      new Promise((resolve) => {
        report('begun')
        signal.addEventListener('abort', () => resolve(report('noticed')))
      }),
  )
  const leaving = new AbortController()
  const progress: unknown[] = []
  const onProgress = (one: unknown) => {
    if (progress.push(one) === 1) leaving.abort(new Error('left'))
  }
  await expect(worker.send(null, { signal: leaving.signal, onProgress })).rejects.toThrow('left')
  await expect.poll(() => progress).toEqual(['begun', 'noticed'])
  await expect(worker.send(null, { signal: leaving.signal })).rejects.toThrow('left')
})

test('An abort that arrives after the answer is ignored', async () => {
  const { worker } = connected((value: number) => value)
  const leaving = new AbortController()
  const sent = worker.send(1, { signal: leaving.signal })
  expect(await sent).toBe(1)
  leaving.abort()
  expect(await worker.send(2)).toBe(2)
})

test('A lost worker rejects its requests and is reported once; an ended one rejects them with the given reason', async () => {
  const lost = connected(() => new Promise(() => {}))
  const sent = lost.worker.send(null)
  lost.workers[0]?.lose(new Error('out of memory'))
  lost.workers[0]?.lose(new Error('it has ended'))
  await expect(sent).rejects.toThrow('out of memory')
  expect(lost.gone.map(({ message }) => message)).toEqual(['out of memory'])
  const ended = connected(() => new Promise(() => {}))
  const waiting = expect(ended.worker.send(null)).rejects.toThrow('enough')
  await ended.worker.end(new Error('enough'))
  await waiting
  expect(ended.gone).toEqual([])
})

test('An on-demand worker starts with its first request, ends when idle, and is replaced when it is lost', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { start, workers } = startedBy((value: number) => (value < 0 ? new Promise(() => {}) : value))
  const worker = createOnDemandWorker<number, number>({
    start,
    classes: CLASSES,
    idleMs: 1_000,
    ended: () => new Error('over'),
  })
  await worker.end()
  await expect(worker.send(1, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left')
  expect(workers).toHaveLength(0)
  expect(await Promise.all([worker.send(1), worker.send(2)])).toEqual([1, 2])
  const waiting = worker.send(-1)
  vi.advanceTimersByTime(5_000)
  expect(workers.map(({ isEnded }) => isEnded)).toEqual([false])
  workers[0]?.lose(new Error('lost'))
  await expect(waiting).rejects.toThrow('lost')
  worker.prepare()
  expect(workers).toHaveLength(2)
  vi.advanceTimersByTime(999)
  expect(workers[1]?.isEnded).toBe(false)
  vi.advanceTimersByTime(1)
  expect(workers[1]?.isEnded).toBe(true)
  const last = expect(worker.send(-1)).rejects.toThrow('over')
  await worker.end()
  await last
})
