import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Resource } from './task-lane.ts'

/** Names for trajectories as tasks' resources: the same one has the same name for as long as it lives. */
export function createTrajectoryNames(): (trajectory: TrajectoryView) => string {
  const names = new WeakMap<TrajectoryView, string>()
  let known = 0
  return (trajectory) => {
    const name = names.get(trajectory) ?? `trajectory ${++known}`
    names.set(trajectory, name)
    return name
  }
}

/** A trajectory for tasks in a worker. Its buffers are copied: the page goes on reading them. */
export const trajectoryResource = (name: string, trajectory: TrajectoryView): Resource => ({
  name,
  load: async () => ({ given: { kind: 'trajectory', trajectory }, transfer: [] }),
})
