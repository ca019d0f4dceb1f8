/**
 * The page's side of the inspector's worker: runs the tasks of lib/analysis on a trajectory in lanes, so that tasks which follow the user's
 * typing wait for no other task. The trajectory is sent to a lane once, with its first task.
 */

import type { RunInspection } from '#lib/analysis/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import {
  createTrajectoryNames,
  type FetchTokenizer,
  fetchTokenizer,
  tokenizerResource,
  trajectoryResource,
} from './resources.ts'
import { createLane, type LaneDeps, type Resource } from './task-lane.ts'

/** The inspector's tasks. */
export interface TrajectoryTasks {
  /** Returns a function that runs tasks on a trajectory; it rejects with TaskError, ApiError, or the signal's reason. */
  run(trajectory: TrajectoryView): RunInspection
  /** Prepares the worker for tasks that follow the user's typing. */
  prepare(trajectory: TrajectoryView): void
  /** Removes a trajectory that is not shown any more from the workers. */
  release(trajectory: TrajectoryView): void
  /** Ends the workers and their running tasks; a later run starts others. */
  dispose(): void
}

interface InspectionDeps {
  readonly typed: LaneDeps
  readonly rest: LaneDeps
  readonly fetchTokenizer: FetchTokenizer
}

const inBrowser: InspectionDeps = {
  typed: {
    createWorker,
    // A regular expression that takes too long is reported soon, and the next one hardly waits for it.
    stepMs: 3_000,
    cancelledStepMs: 300,
    tooLongHint: 'A regular expression with nested repetitions can take extremely long: simplify it.',
  },
  rest: {
    createWorker,
    stepMs: 60_000,
    cancelledStepMs: 10_000,
    tooLongHint: 'The trajectory may be too long for this operation.',
  },
  fetchTokenizer,
}

function createWorker(): Worker {
  // Bundlers recognize exactly this expression.
  return new Worker(new URL('./inspect-worker.ts', import.meta.url), { type: 'module' })
}

/** Tasks that run while the user types. */
const TYPED: ReadonlySet<string> = new Set(['find'])

interface InspectionRunOptions {
  readonly tokenizers?: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress?: (progress: never) => void
}

/** Returns the tasks; a worker starts with the first task of its lane. */
export function createTrajectoryTasks(deps: InspectionDeps = inBrowser): TrajectoryTasks {
  const typed = createLane(deps.typed)
  const rest = createLane(deps.rest)
  const nameOf = createTrajectoryNames()
  const resourceOf = (trajectory: TrajectoryView): Resource => trajectoryResource(nameOf(trajectory), trajectory)
  return {
    run: (trajectory) =>
      ((name: string, request: unknown, { tokenizers = [], signal, onProgress }: InspectionRunOptions) =>
        (TYPED.has(name) ? typed : rest).run(name, request, {
          resources: [
            resourceOf(trajectory),
            ...tokenizers.map((tokenizer) => tokenizerResource(tokenizer, deps.fetchTokenizer)),
          ],
          signal,
          onProgress,
        })) as RunInspection,
    prepare: (trajectory) => typed.prepare([resourceOf(trajectory)]),
    release(trajectory) {
      typed.release(nameOf(trajectory))
      rest.release(nameOf(trajectory))
    },
    dispose() {
      typed.stop()
      rest.stop()
    },
  }
}
