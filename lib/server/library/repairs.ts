/** Repairs stored trajectories of imported files. */
import * as z from 'zod'
import { applyRepair, repairs } from '#lib/analysis/repairs/repairs.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { endedTrajectory } from './trajectories.ts'

/** Schema of the body that names a repair. */
export const repairChoiceSchema = z.strictObject({
  name: z
    .enum(repairs.map(({ name }) => name))
    .describe('Name of the repair, as a finding of the health check offers it.'),
})

/** Repairs a trajectory and returns it. Throws HttpProblem if there is nothing to repair. */
export function repairTrajectory(key: string, { name }: z.infer<typeof repairChoiceSchema>, all: Services): Trajectory {
  const found = endedTrajectory(key, all, 'Repair it after the run has ended.')
  const chosen = repairs.find((repair) => repair.name === name)
  const repaired = chosen && applyRepair(found, chosen)
  if (!repaired)
    throw new HttpProblem({
      status: 409,
      code: 'NOTHING_TO_REPAIR',
      detail: `the repair ${name} finds nothing to change in this trajectory`,
      hint: 'Only imported trajectories are repaired. GET /api/trajectories/{key}/health lists the repairs that help.',
    })
  all.store.update(key, repaired, 0)
  return repaired
}
