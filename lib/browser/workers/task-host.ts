/**
 * The worker's side of tasks: runs them in steps, several in turns, and checks between two steps whether a task is cancelled. It reports
 * each step before it begins, so that the page knows which task never ended one.
 */

import type { LateTask } from '#lib/tasks/task.ts'
import type { Answer, AnswerContext } from '#lib/tasks/worker-protocol.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { TaskError } from './task-error.ts'

/** The input of a task as the worker receives it. */
export type TaskResource =
  /** The files of a tokenizer as JSON. */
  | { readonly kind: 'tokenizer'; readonly name: string; readonly files: ArrayBuffer }
  | { readonly kind: 'trajectory'; readonly trajectory: TrajectoryView }

/** A request to a task worker. */
export type TaskRequest =
  /** Precedes the first task that names the resource. */
  | { readonly kind: 'resource'; readonly name: string; readonly resource: TaskResource }
  | { readonly kind: 'release'; readonly name: string }
  | {
      readonly kind: 'run'
      readonly task: string
      readonly request: unknown
      readonly resources: readonly string[]
    }

/** Progress of a task: a step begins, or has ended with these values. */
export type StepProgress = 'begins' | readonly unknown[]

/** A task: yields its progress, and returns its result. */
export type Task<Held> = (request: never, resources: readonly Held[]) => Generator<unknown, unknown>

/** The tasks of a worker and its environment. `Held` is the form in which tasks get a resource. */
export interface HostDeps<Held> {
  readonly tasks: Readonly<Record<string, Task<Held> | LateTask<Task<Held>>>>
  /** Converts a resource; its error becomes the error of every task that needs the resource. */
  readonly hold: (resource: TaskResource) => Held
  /** Resolves after everything that waits in the event loop, including messages. */
  readonly nextTurn: () => Promise<void>
  /** Returns the time in milliseconds. */
  readonly now: () => number
}

/** Milliseconds for which short steps run without a turn in between, because a turn costs more than many of them. */
const SLICE_MS = 12

/** Returns the function that answers each request of the page. Throws TaskError. */
export function createTaskHost<Held>({
  tasks,
  hold,
  nextTurn,
  now,
}: HostDeps<Held>): Answer<TaskRequest, unknown, StepProgress> {
  const resources = new Map<string, () => Held>()

  async function perform(
    { task, request, resources: names }: Extract<TaskRequest, { kind: 'run' }>,
    { signal, report }: AnswerContext<StepProgress>,
  ): Promise<unknown> {
    const loaders = names.map((name) => resources.get(name) as () => Held)
    const known = tasks[task] as Task<Held> | LateTask<Task<Held>>
    const start = 'load' in known ? await known.load() : known
    // The page may have aborted the task already, in a message that waits.
    await nextTurn()
    if (signal.aborted) return
    const steps = start(
      request as never,
      loaders.map((get) => get()),
    )
    while (!signal.aborted) {
      report('begins')
      const progress: unknown[] = []
      const until = now() + SLICE_MS
      try {
        let step = steps.next()
        while (!step.done) {
          progress.push(step.value)
          // A phase is reported before its work begins, because that may be one long step.
          if (now() >= until || typeof step.value === 'string') break
          step = steps.next()
        }
        if (step.done) return step.value
      } finally {
        report(progress)
      }
      await nextTurn()
    }
    steps.return(undefined)
  }

  return async (request, work) => {
    switch (request.kind) {
      case 'resource':
        resources.set(
          request.name,
          valueOrError(() => hold(request.resource)),
        )
        return
      case 'release':
        resources.delete(request.name)
        return
      case 'run':
        return perform(request, work).catch((error: unknown) => {
          throw taskErrorOf(error)
        })
    }
  }
}

/** Converts a resource at once and returns its getter; an error is thrown to every caller. */
function valueOrError<T>(make: () => T): () => T {
  try {
    const value = make()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function taskErrorOf(error: unknown): TaskError {
  if (!(error instanceof Error)) return new TaskError('TASK_FAILED', String(error))
  const { code = 'TASK_FAILED', hint } = error as Error & { readonly code?: string; readonly hint?: string }
  return new TaskError(code, error.message, hint)
}
