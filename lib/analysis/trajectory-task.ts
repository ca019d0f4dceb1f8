/**
 * What the inspector computes about a trajectory, as tasks: pure functions run by the page in a worker. A task that takes
 * long yields its progress; whoever runs it may stop between two yields.
 */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** `trajectory` is the one that the page shows; the worker holds it. Request, progress and result are plain data. */
export type InspectTask<Request, Progress, Result> = (
  request: Request,
  trajectory: TrajectoryView,
  tokenizers: readonly LabTokenizer[],
) => Generator<Progress, Result>
