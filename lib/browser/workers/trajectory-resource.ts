import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Resource } from './task-lane.ts'

/** Returns a function that names trajectories as resources: the same trajectory has the same name while it exists. */
export function createTrajectoryNames(): (trajectory: TrajectoryView) => string {
  const names = new WeakMap<TrajectoryView, string>()
  let known = 0
  return (trajectory) => {
    const name = names.get(trajectory) ?? `trajectory ${++known}`
    names.set(trajectory, name)
    return name
  }
}

/** Returns a trajectory as a resource. Its buffers are copied, because the page continues to read them. */
export const trajectoryResource = (name: string, trajectory: TrajectoryView): Resource => ({
  name,
  load: async () => ({ given: { kind: 'trajectory', trajectory }, transfer: [] }),
})
