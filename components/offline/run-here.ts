/** The tasks of the parts that the page is made of: there is no worker in a file, and they are quick. */

import { findTask } from '#lib/analysis/find/find.ts'
import type { RunInspection } from '#lib/analysis/tasks.ts'
import type { InspectTask } from '#lib/analysis/trajectory-task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

const tasks = { find: findTask } as Readonly<Record<string, InspectTask<never, unknown, unknown>>>

export const runHere = (trajectory: TrajectoryView): RunInspection =>
  (async (name: string, request: never, { signal, onProgress }: Parameters<RunInspection>[2]) => {
    const task = tasks[name]
    if (!task) throw new Error('This is not in an offline page.')
    const steps = task(request, trajectory, [])
    for (;;) {
      signal.throwIfAborted()
      const step = steps.next()
      if (step.done) return step.value
      onProgress?.(step.value as never)
    }
  }) as unknown as RunInspection
