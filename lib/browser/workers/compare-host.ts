/** The tasks of the compare page's worker, and how it receives its resources. */

import type { SideTokenizer } from '#lib/analysis/compare/shown-side.ts'
import { type CompareTask, compareTasks } from '#lib/analysis/compare/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { loadTokenizer } from './load-tokenizer.ts'
import type { HostDeps, Task } from './task-host.ts'

type Held =
  | { readonly kind: 'trajectory'; readonly trajectory: TrajectoryView }
  | { readonly kind: 'tokenizer'; readonly tokenizer: SideTokenizer }
type AnyTask = CompareTask<never, unknown, unknown>

const tasks = Object.fromEntries(
  Object.entries(compareTasks as Readonly<Record<string, AnyTask>>).map(([name, task]): [string, Task<Held>] => [
    name,
    (request, resources) =>
      task(
        request,
        resources.flatMap((one) => (one.kind === 'trajectory' ? [one.trajectory] : [])),
        resources.flatMap((one) => (one.kind === 'tokenizer' ? [one.tokenizer] : [])),
      ),
  ]),
)

/** Tasks and resources of the worker. */
export const compareHost: Pick<HostDeps<Held>, 'tasks' | 'hold'> = {
  tasks,
  hold: (resource) =>
    resource.kind === 'trajectory' ? resource : { kind: 'tokenizer', tokenizer: loadTokenizer(resource) },
}
