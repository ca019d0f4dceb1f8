/**
 * The worker's side of the template lab: runs tasks in steps, several by turns, and hears between two steps whether one is
 * given up. It says before each step whose step it is, so that the page knows which task never ended one.
 */
import type { LabTokenizer, LateTask } from '#lib/lab/task.ts'

export type ToWorker =
  /** The files of a tokenizer as JSON; come before the first task that names it. */
  | { readonly kind: 'tokenizer'; readonly name: string; readonly files: ArrayBuffer }
  | {
      readonly kind: 'run'
      readonly id: number
      readonly task: string
      readonly request: unknown
      readonly tokenizers: readonly string[]
    }
  | { readonly kind: 'cancel'; readonly id: number }

export type FromWorker =
  | { readonly kind: 'step'; readonly id: number }
  /** The step has ended, the task has not. */
  | { readonly kind: 'rest'; readonly id: number; readonly progress: readonly unknown[] }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure }

/** An error as it crosses threads. */
interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
}

type Task = (request: never, tokenizers: readonly LabTokenizer[]) => Generator<unknown, unknown>

export interface HostDeps {
  readonly tasks: Readonly<Record<string, Task | LateTask<Task>>>
  /** Throws TokenizerError. */
  readonly loadTokenizer: (name: string, files: ArrayBuffer) => LabTokenizer
  readonly post: (message: FromWorker) => void
  /** Resolves after whatever else waits to be done, messages among it. */
  readonly nextTurn: () => Promise<void>
  /** Milliseconds. */
  readonly now: () => number
}

/** Steps shorter than this are made together: a turn costs more than many of them. */
const SLICE_MS = 12

/** Gives what is to be done with each message from the page. */
export function createTaskHost({
  tasks,
  loadTokenizer,
  post,
  nextTurn,
  now,
}: HostDeps): (message: ToWorker) => Promise<void> {
  const tokenizers = new Map<string, () => LabTokenizer>()
  const running = new Set<number>()

  async function perform({ id, task, request, tokenizers: names }: Extract<ToWorker, { kind: 'run' }>): Promise<void> {
    running.add(id)
    const known = tasks[task] as Task | LateTask<Task>
    const start = 'load' in known ? await known.load() : known
    // The page may have given it up already, in a message that waits.
    await nextTurn()
    if (!running.has(id)) return
    const steps = start(
      request as never,
      names.map((name) => (tokenizers.get(name) as () => LabTokenizer)()),
    )
    while (running.has(id)) {
      post({ kind: 'step', id })
      const progress: unknown[] = []
      const until = now() + SLICE_MS
      let step = steps.next()
      while (!step.done) {
        progress.push(step.value)
        if (now() >= until) break
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
      case 'tokenizer':
        tokenizers.set(
          message.name,
          held(() => loadTokenizer(message.name, message.files)),
        )
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

/** Made at once; what goes wrong is told to all who ask. */
function held<T>(make: () => T): () => T {
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
