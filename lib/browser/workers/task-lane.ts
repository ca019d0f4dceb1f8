/**
 * The page's side of a worker that runs tasks: created with the first task, and again when it is lost. A resource is sent once, before the
 * first task that names it. A task that never ends a step ends the worker, and its other tasks begin again.
 */

import { type ConnectedWorker, connectWorker } from '#lib/tasks/worker-protocol.ts'
import { type PageWorker, startPageWorker } from './port.ts'
import { TaskError } from './task-error.ts'
import type { StepProgress, TaskRequest, TaskResource } from './task-host.ts'

/** Input of tasks, such as a tokenizer or a trajectory. Resources of the same name are the same. */
export interface Resource {
  readonly name: string
  /** Returns the message for the worker, and the buffers that are transferred with it. */
  load(signal: AbortSignal): Promise<{ readonly resource: TaskResource; readonly transfer: readonly ArrayBuffer[] }>
}

interface RunOptions {
  /** Resources in the order in which the task takes them. */
  readonly resources: readonly Resource[]
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: never) => void) | undefined
}

/** A worker that runs tasks. */
export interface TaskLane {
  /** Rejects with TaskError, with the error of a resource's `load`, or with the signal's reason. */
  run(task: string, request: unknown, options: RunOptions): Promise<never>
  /** Starts the worker and sends it these resources, for a task that must begin quickly. */
  prepare(resources: readonly Resource[]): void
  /** Removes a resource that no later task names, when the last task that needs it has ended. */
  release(name: string): void
  /** Ends the worker and its running tasks; a later run starts another worker. */
  stop(): void
}

/** The limits of a lane, and how it starts its worker. */
export interface LaneDeps {
  readonly createWorker: () => PageWorker
  /** Longest time of a step in milliseconds. */
  readonly stepMs: number
  /** Longest time of a step of a cancelled task in milliseconds, for which other tasks wait. */
  readonly cancelledStepMs: number
  /** Hint in the error of a task that took too long. */
  readonly tooLongHint: string
}

interface Run {
  readonly request: Extract<TaskRequest, { kind: 'run' }>
  readonly options: RunOptions
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

type TaskWorker = ConnectedWorker<TaskRequest, unknown, StepProgress>

const stoppedError = (): TaskError => new TaskError('STOPPED', 'the page was closed')

/** Returns a lane, whose worker starts with the first task. */
export function createLane({ createWorker, stepMs, cancelledStepMs, tooLongHint }: LaneDeps): TaskLane {
  const runs = new Set<Run>()
  let worker: TaskWorker | undefined
  /** Resources that the worker has, or will receive. */
  let sentResources = new Map<string, Promise<void>>()
  const released = new Set<string>()
  let loading = new AbortController()
  let watch: ReturnType<typeof setTimeout> | undefined
  /** The task whose step is under way. */
  let stepping: Run | undefined

  function end(): void {
    endStep()
    loading.abort()
    void worker?.end(stoppedError())
    worker = undefined
    sentResources = new Map()
    released.clear()
    loading = new AbortController()
  }

  function failAll(reason: TaskError): void {
    end()
    const unfinishedRuns = [...runs]
    runs.clear()
    for (const { reject } of unfinishedRuns) reject(reason)
  }

  function endStep(): void {
    clearTimeout(watch)
    stepping = undefined
  }

  function watchStep(run: Run, milliseconds: number): void {
    clearTimeout(watch)
    stepping = run
    watch = setTimeout(() => restartWithout(run), milliseconds)
  }

  /** Ends the task that took too long; the other tasks begin again. */
  function restartWithout(slow: Run): void {
    end()
    const text = `the computation took longer than ${stepMs / 1000} seconds`
    slow.reject(new TaskError('TOO_LONG', text, `It was stopped. ${tooLongHint}`))
    runs.delete(slow)
    for (const run of runs) void send(run)
  }

  function receive(run: Run, progress: StepProgress): void {
    if (progress === 'begins') {
      watchStep(run, runs.has(run) ? stepMs : cancelledStepMs)
      return
    }
    endStep()
    if (runs.has(run)) for (const value of progress) run.options.onProgress?.(value as never)
  }

  function settle(run: Run): void {
    runs.delete(run)
    releaseUnused()
  }

  function releaseUnused(): void {
    for (const name of released) {
      if ([...runs].some(({ request }) => request.resources.includes(name))) continue
      released.delete(name)
      // A lost worker has no resources.
      if (sentResources.delete(name)) worker?.send({ kind: 'release', name }).catch(() => {})
    }
  }

  function start(): TaskWorker {
    const created: TaskWorker = connectWorker(startPageWorker(createWorker), [TaskError], ({ message }) => {
      if (created === worker)
        failAll(
          new TaskError('WORKER_FAILED', `the page’s worker failed: ${message || 'the browser reports no reason'}`),
        )
    })
    return created
  }

  /** Sends a resource to the worker `to`, which may be lost before the resource is loaded. */
  function give({ name, load }: Resource, to: TaskWorker): Promise<void> {
    const giving =
      sentResources.get(name) ??
      load(loading.signal).then(async ({ resource, transfer }) => {
        await to.send({ kind: 'resource', name, resource }, { transfer })
      })
    sentResources.set(name, giving)
    // A failure is not stored, because the next attempt may succeed.
    giving.catch(() => sentResources.get(name) === giving && sentResources.delete(name))
    return giving
  }

  async function send(run: Run): Promise<void> {
    worker ??= start()
    const to = worker
    // The tasks of a lost worker begin again or were rejected, and an aborted task was rejected.
    const isCurrent = () => to === worker && runs.has(run)
    const { resources, signal } = run.options
    try {
      await Promise.all(resources.map((resource) => give(resource, to)))
      if (!isCurrent()) return
      const onProgress = (progress: StepProgress) => to === worker && receive(run, progress)
      const result = await to.send(run.request, { signal, onProgress })
      if (!isCurrent()) return
      settle(run)
      run.resolve(result as never)
    } catch (error) {
      if (!isCurrent()) return
      settle(run)
      run.reject(error)
    }
  }

  return {
    run(task, request, options) {
      const { resources, signal } = options
      if (signal.aborted) return Promise.reject(signal.reason)
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      const names = resources.map(({ name }) => name)
      const run: Run = { request: { kind: 'run', task, request, resources: names }, options, resolve, reject }
      const giveUp = () => {
        if (!runs.has(run)) return
        settle(run)
        if (stepping === run) watchStep(run, cancelledStepMs)
        reject(signal.reason)
      }
      runs.add(run)
      signal.addEventListener('abort', giveUp, { once: true })
      void send(run)
      return promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
    prepare(resources) {
      worker ??= start()
      // A task that needs the resource reports the error.
      for (const resource of resources) give(resource, worker).catch(() => {})
    },
    release(name) {
      released.add(name)
      releaseUnused()
    },
    stop: () => failAll(stoppedError()),
  }
}
