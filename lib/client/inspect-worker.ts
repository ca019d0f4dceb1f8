/** The worker of the inspector: what is computed about a trajectory, beside the page. */
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { InspectTask } from '#lib/inspect/task.ts'
import { inspectTasks } from '#lib/inspect/tasks.ts'
import type { LabTokenizer } from '#lib/lab/task.ts'
import { heldTokenizer } from './held-tokenizer.ts'
import type { Task } from './task-host.ts'
import { serveTasks } from './task-port.ts'

type Held = TrajectoryView | LabTokenizer
type AnyTask = InspectTask<never, unknown, unknown>

/** The page gives the trajectory first, then the tokenizers. */
const tasks = Object.fromEntries(
  Object.entries(inspectTasks as Readonly<Record<string, AnyTask>>).map(([name, task]): [string, Task<Held>] => [
    name,
    (request, [trajectory, ...tokenizers]) =>
      task(request, trajectory as TrajectoryView, tokenizers as readonly LabTokenizer[]),
  ]),
)

serveTasks<Held>({
  tasks,
  hold: (given) => (given.kind === 'trajectory' ? given.trajectory : heldTokenizer(given)),
})
