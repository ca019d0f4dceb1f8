/**
 * The worker's side of tasks: runs them in steps, several in turns, and checks between two steps whether a task is cancelled. It reports
 * each step before it begins, so that the page knows which task never ended one.
 */

import type { LateTask } from '#lib/tasks/task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The input of a task as the worker receives it. */
export type TaskResource =
  /** The files of a tokenizer as JSON. */
  | { readonly kind: 'tokenizer'; readonly name: string; readonly files: ArrayBuffer }
  | { readonly kind: 'trajectory'; readonly trajectory: TrajectoryView }

/** A message to a task worker. */
export type ToWorker =
  /** Precedes the first task that names the resource. */
  | { readonly kind: 'resource'; readonly name: string; readonly given: TaskResource }
  | { readonly kind: 'release'; readonly name: string }
  | {
      readonly kind: 'run'
      readonly id: number
      readonly task: string
      readonly request: unknown
      readonly resources: readonly string[]
    }
  | { readonly kind: 'cancel'; readonly id: number }

/** A message from a task worker. */
export type FromWorker =
  | { readonly kind: 'step'; readonly id: number }
  /** The step has ended, but the task has not. */
  | { readonly kind: 'rest'; readonly id: number; readonly progress: readonly unknown[] }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure }

/** An error in the form in which threads exchange it. */
interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
}

/** A task: yields its progress, and returns its result. */
export type Task<Held> = (request: never, resources: readonly Held[]) => Generator<unknown, unknown>

/** The tasks of a worker and its environment. `Held` is the form in which tasks get a resource. */
export interface HostDeps<Held> {
  readonly tasks: Readonly<Record<string, Task<Held> | LateTask<Task<Held>>>>
  /** Converts a resource; its error becomes the error of every task that needs the resource. */
  readonly hold: (given: TaskResource) => Held
  readonly post: (message: FromWorker) => void
  /** Resolves after everything that waits in the event loop, including messages. */
  readonly nextTurn: () => Promise<void>
  /** Returns the time in milliseconds. */
  readonly now: () => number
}

/** Milliseconds for which short steps run without a turn in between, because a turn costs more than many of them. */
const SLICE_MS = 12

/** Returns the function that processes each message from the page. */
export function createTaskHost<Held>({
  tasks,
  hold,
  post,
  nextTurn,
  now,
}: HostDeps<Held>): (message: ToWorker) => Promise<void> {
  const resources = new Map<string, () => Held>()
  const running = new Set<number>()

  async function perform({ id, task, request, resources: names }: Extract<ToWorker, { kind: 'run' }>): Promise<void> {
    running.add(id)
    const held = names.map((name) => resources.get(name) as () => Held)
    const known = tasks[task] as Task<Held> | LateTask<Task<Held>>
    const start = 'load' in known ? await known.load() : known
    // The page may have cancelled the task already, in a message that waits.
    await nextTurn()
    if (!running.has(id)) return
    const steps = start(
      request as never,
      held.map((get) => get()),
    )
    while (running.has(id)) {
      post({ kind: 'step', id })
      const progress: unknown[] = []
      const until = now() + SLICE_MS
      let step = steps.next()
      while (!step.done) {
        progress.push(step.value)
        // A phase is reported before its work begins, because that may be one long step.
        if (now() >= until || typeof step.value === 'string') break
        step = steps.next()
      }
      if (progress.length > 0) post({ kind: 'rest', id, progress })
      if (step.done) {
        running.delete(id)
        return post({ kind: 'result', id, result: step.value })
      }
      await nextTurn()
    }
    steps.return(undefined)
  }

  return async (message) => {
    switch (message.kind) {
      case 'resource':
        resources.set(
          message.name,
          made(() => hold(message.given)),
        )
        return
      case 'release':
        resources.delete(message.name)
        return
      case 'cancel':
        running.delete(message.id)
        return
      case 'run':
        try {
          await perform(message)
        } catch (error) {
          running.delete(message.id)
          post({ kind: 'failed', id: message.id, failure: failureOf(error) })
        }
    }
  }
}

/** Converts a resource at once and returns its getter; an error is thrown to every caller. */
function made<T>(make: () => T): () => T {
  try {
    const value = make()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'TASK_FAILED', message: String(error), hint: undefined }
  const { code = 'TASK_FAILED', hint } = error as Error & { readonly code?: string; readonly hint?: string }
  return { code, message: error.message, hint }
}
