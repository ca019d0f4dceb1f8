'use client'
/**
 * The page's side of the template lab: runs the tasks of lib/templates in workers. Tasks that follow the user's typing have their own
 * worker, so that no search delays them.
 */
import { useEffect, useState } from 'react'
import type { RunTask, TaskName } from '#lib/templates/tasks/tasks.ts'
import { type FetchTokenizer, fetchTokenizer, tokenizerResource } from './resources.ts'
import { createLane, type LaneDeps } from './task-lane.ts'

interface Lab {
  /** Rejects with TaskError, ApiError, or the signal's reason. */
  readonly run: RunTask
  /** Ends the workers and their running tasks; a later run starts others. */
  dispose(): void
}

/** Returns the lab of a page; its workers start with the first task and end with the page. */
export function useLab(): Lab {
  const [lab] = useState(() => createLab())
  useEffect(() => () => lab.dispose(), [lab])
  return lab
}

interface LabDeps extends LaneDeps {
  readonly fetchTokenizer: FetchTokenizer
}

const inBrowser: LabDeps = {
  // Bundlers recognize exactly this expression.
  createWorker: () => new Worker(new URL('./lab-worker.ts', import.meta.url), { type: 'module' }),
  fetchTokenizer,
  // The limit is longer than the budget of a render, whose error explains more.
  stepMs: 8_000,
  cancelledStepMs: 8_000,
  tooLongHint: 'The template or its input takes too long: look for large loops or very long texts.',
}

/** Tasks that run while the user types. */
const LIVE: ReadonlySet<string> = new Set<TaskName>(['check', 'parsing', 'preview', 'prefixMask'])

interface LabRunOptions {
  readonly tokenizers: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress?: (progress: never) => void
}

/** Returns a lab; a worker starts with the first task of its lane. */
export function createLab(deps: LabDeps = inBrowser): Lab {
  const live = createLane(deps)
  const rest = createLane(deps)
  return {
    run: ((name: string, request: unknown, { tokenizers, signal, onProgress }: LabRunOptions) =>
      (LIVE.has(name) ? live : rest).run(name, request, {
        resources: tokenizers.map((tokenizer) => tokenizerResource(tokenizer, deps.fetchTokenizer)),
        signal,
        onProgress,
      })) as RunTask,
    dispose() {
      live.stop()
      rest.stop()
    },
  }
}
