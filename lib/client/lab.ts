'use client'
/**
 * The page's side of the template lab: runs the tasks of lib/lab in workers. What follows the typing has one for itself, so
 * that no search keeps it waiting. A task that never ends a step costs its worker, and the others in it begin again.
 */
import { useEffect, useState } from 'react'
import type { RunTask, TaskName } from '#lib/lab/tasks.ts'
import { callApi } from './api.ts'
import type { FromWorker, ToWorker } from './task-host.ts'

interface Lab {
  /** Rejects with LabError, ApiError, or the signal's reason. */
  readonly run: RunTask
  /** Ends the workers and all that runs in them; a later run starts others. */
  dispose(): void
}

/** The lab of a page; its workers start with the first task and end with the page. */
export function useLab(): Lab {
  const [lab] = useState(() => createLab())
  useEffect(() => () => lab.dispose(), [lab])
  return lab
}

/** A task that could not be done, by no fault of what it was given. */
export class LabError extends Error {
  override readonly name = 'LabError'
  /** TOO_LONG, WORKER_FAILED, STOPPED, TASK_FAILED, or a TokenizerError's code. */
  readonly code: string
  readonly hint: string | undefined
  constructor(code: string, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

interface LabDeps {
  readonly createWorker: () => Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>
  /** The answer of /api/tokenizers/files. */
  readonly fetchTokenizer: (name: string, signal: AbortSignal) => Promise<ArrayBuffer>
  /** How long a task may go without ending a step: longer than the budget of a render, which says what is wrong. */
  readonly stepMs: number
}

const inBrowser: LabDeps = {
  // Bundlers look for this very expression.
  createWorker: () => new Worker(new URL('./lab-worker.ts', import.meta.url), { type: 'module' }),
  fetchTokenizer: async (name, signal) => {
    const path = `/api/tokenizers/files?name=${encodeURIComponent(name)}`
    return (await callApi(path, { signal, revalidate: true })).arrayBuffer()
  },
  stepMs: 8_000,
}

/** Tasks that are run while somebody types. */
const LIVE: ReadonlySet<string> = new Set<TaskName>(['check', 'parsing', 'preview', 'prefixMask'])

export function createLab(deps: LabDeps = inBrowser): Lab {
  const live = createLane(deps)
  const rest = createLane(deps)
  return {
    run: ((name: string, request, options) => (LIVE.has(name) ? live : rest).run(name, request, options)) as RunTask,
    dispose() {
      live.stop(stopped())
      rest.stop(stopped())
    },
  }
}

const stopped = () => new LabError('STOPPED', 'the page was left')

interface Run {
  readonly message: Extract<ToWorker, { kind: 'run' }>
  readonly onProgress: ((progress: never) => void) | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

interface RunOptions {
  readonly tokenizers: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress?: (progress: never) => void
}

interface Lane {
  run(task: string, request: unknown, options: RunOptions): Promise<never>
  stop(reason: LabError): void
}

/** One worker, made again when it is lost. */
function createLane({ createWorker, fetchTokenizer, stepMs }: LabDeps): Lane {
  const runs = new Map<number, Run>()
  let nextId = 0
  let worker: ReturnType<LabDeps['createWorker']> | undefined
  /** Tokenizers that the worker has, or will have. */
  let given = new Map<string, Promise<void>>()
  let left = new AbortController()
  let watch: ReturnType<typeof setTimeout> | undefined

  function end(): void {
    clearTimeout(watch)
    left.abort()
    worker?.terminate()
    worker = undefined
    given = new Map()
    left = new AbortController()
  }

  function stop(reason: LabError): void {
    end()
    const lost = [...runs.values()]
    runs.clear()
    for (const { reject } of lost) reject(reason)
  }

  /** Without the task that took too long, the others are done from their beginning. */
  function restartWithout(id: number): void {
    end()
    runs
      .get(id)
      ?.reject(
        new LabError(
          'TOO_LONG',
          `the computation did not come to an end within ${stepMs / 1000} seconds`,
          'It was stopped. Something in the template, or in the text that it was given, takes very long.',
        ),
      )
    runs.delete(id)
    for (const run of runs.values()) send(run)
  }

  function receive(message: FromWorker): void {
    clearTimeout(watch)
    const run = runs.get(message.id)
    switch (message.kind) {
      case 'step':
        watch = setTimeout(() => restartWithout(message.id), stepMs)
        return
      case 'rest':
        for (const progress of message.progress) run?.onProgress?.(progress as never)
        return
      case 'result':
        runs.delete(message.id)
        run?.resolve(message.result as never)
        return
      case 'failed': {
        const { code, message: text, hint } = message.failure
        runs.delete(message.id)
        run?.reject(new LabError(code, text, hint))
      }
    }
  }

  function start(): ReturnType<LabDeps['createWorker']> {
    const made = createWorker()
    made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (made === worker) receive(data)
    }
    made.onerror = (event) => {
      event.preventDefault?.()
      if (made === worker)
        stop(
          new LabError('WORKER_FAILED', `the template lab’s worker failed: ${event.message || 'no reason was told'}`),
        )
    }
    return made
  }

  /** `worker` is the one that the files are for: it may be lost before they are there. */
  function give(name: string, to: NonNullable<typeof worker>): Promise<void> {
    const giving =
      given.get(name) ??
      fetchTokenizer(name, left.signal).then((files) => to.postMessage({ kind: 'tokenizer', name, files }, [files]))
    given.set(name, giving)
    // A failure is not kept: the next try may find the files.
    giving.catch(() => given.get(name) === giving && given.delete(name))
    return giving
  }

  function send(run: Run): void {
    worker ??= start()
    const to = worker
    Promise.all(run.message.tokenizers.map((name) => give(name, to)))
      .then(() => {
        if (to === worker && runs.has(run.message.id)) to.postMessage(run.message)
      })
      .catch((error) => {
        if (to !== worker) return
        runs.delete(run.message.id)
        run.reject(error)
      })
  }

  return {
    stop,
    run(task, request, { tokenizers, signal, onProgress }) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      const id = nextId++
      const giveUp = () => {
        if (!runs.delete(id)) return
        worker?.postMessage({ kind: 'cancel', id })
        reject(signal.reason)
      }
      const run: Run = { message: { kind: 'run', id, task, request, tokenizers }, onProgress, resolve, reject }
      runs.set(id, run)
      signal.addEventListener('abort', giveUp, { once: true })
      send(run)
      return promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
  }
}
