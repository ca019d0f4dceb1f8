/**
 * The page's side of a worker that runs tasks: made with the first task, and again when it is lost. What tasks work on is
 * sent once, before the first of them that names it. A task that never ends a step costs the worker, and the others in it
 * begin again.
 */
import { TaskError } from './task-error.ts'
import type { FromWorker, TaskResource, ToWorker } from './task-host.ts'

/** What tasks work on: a tokenizer, a trajectory. Those of the same name are the same. */
export interface Resource {
  readonly name: string
  /** What the worker is sent, and which of its buffers go over to it. */
  load(signal: AbortSignal): Promise<{ readonly given: TaskResource; readonly transfer: readonly ArrayBuffer[] }>
}

interface RunOptions {
  /** In the order in which the task takes them. */
  readonly resources: readonly Resource[]
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: never) => void) | undefined
}

export interface Lane {
  /** Rejects with TaskError, with what a resource's `load` rejects with, or with the signal's reason. */
  run(task: string, request: unknown, options: RunOptions): Promise<never>
  /** Starts the worker and sends it these, for a task that will be in a hurry. */
  prepare(resources: readonly Resource[]): void
  /** No later task names this resource: it goes when the last that does has ended. */
  release(name: string): void
  /** Ends the worker and all that runs in it; a later run starts another. */
  stop(): void
}

type LaneWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

export interface LaneDeps {
  readonly createWorker: () => LaneWorker
  /** How long a task may go without ending a step. */
  readonly stepMs: number
  /** How long one may that was given up: others wait for it. */
  readonly givenUpMs: number
  /** What may have been the matter with a task that took too long. */
  readonly tooLongHint: string
}

interface Run {
  readonly message: Extract<ToWorker, { kind: 'run' }>
  readonly resources: readonly Resource[]
  readonly onProgress: RunOptions['onProgress']
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export function createLane({ createWorker, stepMs, givenUpMs, tooLongHint }: LaneDeps): Lane {
  const runs = new Map<number, Run>()
  let nextId = 0
  let worker: LaneWorker | undefined
  /** Resources that the worker has, or will have. */
  let given = new Map<string, Promise<void>>()
  const released = new Set<string>()
  let left = new AbortController()
  let watch: ReturnType<typeof setTimeout> | undefined
  /** The task whose step is under way. */
  let stepping: number | undefined

  function end(): void {
    rest()
    left.abort()
    worker?.terminate()
    worker = undefined
    given = new Map()
    released.clear()
    left = new AbortController()
  }

  function failAll(reason: TaskError): void {
    end()
    const lost = [...runs.values()]
    runs.clear()
    for (const { reject } of lost) reject(reason)
  }

  function rest(): void {
    clearTimeout(watch)
    stepping = undefined
  }

  function allow(id: number, milliseconds: number): void {
    clearTimeout(watch)
    stepping = id
    watch = setTimeout(() => restartWithout(id), milliseconds)
  }

  /** Without the task that took too long, the others are done from their beginning. */
  function restartWithout(id: number): void {
    end()
    const text = `the computation did not come to an end within ${stepMs / 1000} seconds`
    runs.get(id)?.reject(new TaskError('TOO_LONG', text, `It was stopped. ${tooLongHint}`))
    runs.delete(id)
    for (const run of runs.values()) send(run)
  }

  function receive(message: FromWorker): void {
    const run = runs.get(message.id)
    switch (message.kind) {
      case 'step':
        allow(message.id, run ? stepMs : givenUpMs)
        return
      case 'rest':
        rest()
        for (const progress of message.progress) run?.onProgress?.(progress as never)
        return
      case 'result':
        rest()
        settle(message.id)
        run?.resolve(message.result as never)
        return
      case 'failed': {
        rest()
        settle(message.id)
        const { code, message: text, hint } = message.failure
        run?.reject(new TaskError(code, text, hint))
      }
    }
  }

  function settle(id: number): void {
    runs.delete(id)
    letGo()
  }

  function letGo(): void {
    for (const name of released) {
      if ([...runs.values()].some(({ message }) => message.resources.includes(name))) continue
      released.delete(name)
      if (given.delete(name)) worker?.postMessage({ kind: 'release', name } satisfies ToWorker)
    }
  }

  function start(): LaneWorker {
    const made = createWorker()
    made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (made === worker) receive(data)
    }
    made.onerror = (event) => {
      event.preventDefault?.()
      if (made === worker)
        failAll(new TaskError('WORKER_FAILED', `the page’s worker failed: ${event.message || 'no reason was told'}`))
    }
    return made
  }

  /** `to` is the worker that it is for: it may be lost before the resource is there. */
  function give({ name, load }: Resource, to: LaneWorker): Promise<void> {
    const giving =
      given.get(name) ??
      load(left.signal).then(({ given, transfer }) =>
        to.postMessage({ kind: 'resource', name, given } satisfies ToWorker, [...transfer]),
      )
    given.set(name, giving)
    // A failure is not kept: the next try may find it.
    giving.catch(() => given.get(name) === giving && given.delete(name))
    return giving
  }

  function send(run: Run): void {
    worker ??= start()
    const to = worker
    Promise.all(run.resources.map((resource) => give(resource, to)))
      .then(() => {
        if (to === worker && runs.has(run.message.id)) to.postMessage(run.message)
      })
      .catch((error) => {
        if (to !== worker) return
        settle(run.message.id)
        run.reject(error)
      })
  }

  return {
    run(task, request, { resources, signal, onProgress }) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      const id = nextId++
      const giveUp = () => {
        if (!runs.has(id)) return
        settle(id)
        worker?.postMessage({ kind: 'cancel', id } satisfies ToWorker)
        if (stepping === id) allow(id, givenUpMs)
        reject(signal.reason)
      }
      const names = resources.map(({ name }) => name)
      const run: Run = {
        message: { kind: 'run', id, task, request, resources: names },
        resources,
        onProgress,
        resolve,
        reject,
      }
      runs.set(id, run)
      signal.addEventListener('abort', giveUp, { once: true })
      send(run)
      return promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
    prepare(resources) {
      worker ??= start()
      // A task that needs it tells what goes wrong.
      for (const resource of resources) give(resource, worker).catch(() => {})
    },
    release(name) {
      released.add(name)
      letGo()
    },
    stop: () => failAll(new TaskError('STOPPED', 'the page was left')),
  }
}
