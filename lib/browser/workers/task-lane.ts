/**
 * The page's side of a worker that runs tasks: created with the first task, and again when it is lost. A resource is sent once, before the
 * first task that names it. A task that never ends a step ends the worker, and its other tasks begin again.
 */
import { TaskError } from './task-error.ts'
import type { FromWorker, TaskResource, ToWorker } from './task-host.ts'

/** Input of tasks, such as a tokenizer or a trajectory. Resources of the same name are the same. */
export interface Resource {
  readonly name: string
  /** Returns the message for the worker, and the buffers that are transferred with it. */
  load(signal: AbortSignal): Promise<{ readonly given: TaskResource; readonly transfer: readonly ArrayBuffer[] }>
}

interface RunOptions {
  /** Resources in the order in which the task takes them. */
  readonly resources: readonly Resource[]
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: never) => void) | undefined
}

/** A worker that runs tasks. */
export interface Lane {
  /** Rejects with TaskError, with the error of a resource's `load`, or with the signal's reason. */
  run(task: string, request: unknown, options: RunOptions): Promise<never>
  /** Starts the worker and sends it these resources, for a task that must begin quickly. */
  prepare(resources: readonly Resource[]): void
  /** Removes a resource that no later task names, when the last task that needs it has ended. */
  release(name: string): void
  /** Ends the worker and its running tasks; a later run starts another worker. */
  stop(): void
}

type LaneWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

/** The limits of a lane, and how it starts its worker. */
export interface LaneDeps {
  readonly createWorker: () => LaneWorker
  /** Longest time of a step in milliseconds. */
  readonly stepMs: number
  /** Longest time of a step of a cancelled task in milliseconds, for which other tasks wait. */
  readonly givenUpMs: number
  /** Hint in the error of a task that took too long. */
  readonly tooLongHint: string
}

interface Run {
  readonly message: Extract<ToWorker, { kind: 'run' }>
  readonly resources: readonly Resource[]
  readonly onProgress: RunOptions['onProgress']
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** Returns a lane, whose worker starts with the first task. */
export function createLane({ createWorker, stepMs, givenUpMs, tooLongHint }: LaneDeps): Lane {
  const runs = new Map<number, Run>()
  let nextId = 0
  let worker: LaneWorker | undefined
  /** Resources that the worker has, or will receive. */
  let given = new Map<string, Promise<void>>()
  const released = new Set<string>()
  let left = new AbortController()
  let watch: ReturnType<typeof setTimeout> | undefined
  /** Id of the task whose step is under way. */
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

  /** Ends the task that took too long; the other tasks begin again. */
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

  /** Sends a resource to the worker `to`, which may be lost before the resource is loaded. */
  function give({ name, load }: Resource, to: LaneWorker): Promise<void> {
    const giving =
      given.get(name) ??
      load(left.signal).then(({ given, transfer }) =>
        to.postMessage({ kind: 'resource', name, given } satisfies ToWorker, [...transfer]),
      )
    given.set(name, giving)
    // A failure is not stored, because the next attempt may succeed.
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
      // A task that needs the resource reports the error.
      for (const resource of resources) give(resource, worker).catch(() => {})
    },
    release(name) {
      released.add(name)
      letGo()
    },
    stop: () => failAll(new TaskError('STOPPED', 'the page was left')),
  }
}
