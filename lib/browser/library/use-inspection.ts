'use client'
import { useEffect, useMemo, useState } from 'react'
import type { RunInspection } from '#lib/analysis/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { createTrajectoryTasks } from '../workers/inspection.ts'

/** Milliseconds until the page has been painted; then there is time to prepare for the next request. */
const PREPARE_AFTER_MS = 500

/** Runs the inspector's tasks on a trajectory; its workers start with the page's first task and end with the page. */
export function useInspection(trajectory: TrajectoryView): RunInspection {
  const [tasks] = useState(() => createTrajectoryTasks())
  useEffect(() => () => tasks.dispose(), [tasks])
  useEffect(() => {
    const preparing = setTimeout(() => tasks.prepare(trajectory), PREPARE_AFTER_MS)
    return () => {
      clearTimeout(preparing)
      tasks.release(trajectory)
    }
  }, [tasks, trajectory])
  return useMemo(() => tasks.run(trajectory), [tasks, trajectory])
}
