/**
 * Defines the tasks of the inspector: pure functions of a trajectory that the page runs in a worker. A task that takes long yields its
 * progress, and its caller can stop it between two yields.
 */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A task. The worker keeps `trajectory`, which is the one that the page shows. Request, progress and result are plain data. */
export type InspectTask<Request, Progress, Result> = (
  request: Request,
  trajectory: TrajectoryView,
  tokenizers: readonly LabTokenizer[],
) => Generator<Progress, Result>
