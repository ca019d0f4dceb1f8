'use client'
import { useState } from 'react'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { InspectTask } from '#lib/inspect/task.ts'
import { inspectTasks, type RunInspection } from '#lib/inspect/tasks.ts'

/** Runs the inspector's tasks on a trajectory. */
export function useInspection(trajectory: TrajectoryView): RunInspection {
  const [tasks] = useState(() => inspectTasks as Readonly<Record<string, InspectTask<never, unknown, unknown>>>)
  return (async (name: string, request: never, { signal, onProgress }: Parameters<RunInspection>[2]) => {
    const steps = (tasks[name] as InspectTask<never, unknown, unknown>)(request, trajectory, [])
    for (;;) {
      signal.throwIfAborted()
      const step = steps.next()
      if (step.done) return step.value
      onProgress?.(step.value as never)
    }
  }) as unknown as RunInspection
}
