/** The worker of the inspector, which analyses a trajectory without blocking the page. */

import { inspectTasks } from '#lib/analysis/tasks.ts'
import type { InspectTask } from '#lib/analysis/trajectory-task.ts'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { loadTokenizer } from './load-tokenizer.ts'
import type { Task } from './task-host.ts'
import { serveTasks } from './task-port.ts'

type Held = TrajectoryView | LabTokenizer
type AnyTask = InspectTask<never, unknown, unknown>

/** Tasks of the worker. The page sends the trajectory first, then the tokenizers. */
const tasks = Object.fromEntries(
  Object.entries(inspectTasks as Readonly<Record<string, AnyTask>>).map(([name, task]): [string, Task<Held>] => [
    name,
    (request, [trajectory, ...tokenizers]) =>
      task(request, trajectory as TrajectoryView, tokenizers as readonly LabTokenizer[]),
  ]),
)

serveTasks<Held>({
  tasks,
  hold: (resource) => (resource.kind === 'trajectory' ? resource.trajectory : loadTokenizer(resource)),
})
