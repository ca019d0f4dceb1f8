/** Repairs stored trajectories of imported files. */
import * as z from 'zod'
import { applyRepair, repairs, undoRepair } from '#lib/analysis/repairs/repairs.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { withNotesInside } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { endedTrajectory } from './trajectories.ts'

/** Schema of the body that names a repair. */
export const repairChoiceSchema = z.strictObject({
  name: z
    .enum(repairs.map(({ name }) => name))
    .describe('Name of the repair, as a finding of the health check offers it.'),
  undo: z
    .boolean()
    .exactOptional()
    .describe('true restores what the last repair of this name changed: the numbers and the tokens of the file.'),
})

/** Repairs a trajectory, or undoes a repair, and returns it. Throws HttpProblem if there is nothing to repair or to undo. */
export function repairTrajectory(
  key: string,
  { name, undo = false }: z.infer<typeof repairChoiceSchema>,
  all: Services,
): Trajectory {
  const found = endedTrajectory(key, all, 'Repair it after the run has ended.')
  const changed = undo ? withoutRepair(found, name) : repaired(found, name)
  all.store.update(key, changed, 0)
  return withNotesInside(changed, tokenCount(changed))
}

function repaired(trajectory: Trajectory, name: string): Trajectory {
  const chosen = repairs.find((repair) => repair.name === name)
  const changed = chosen && applyRepair(trajectory, chosen)
  if (changed) return changed
  throw new HttpProblem({
    status: 409,
    code: 'NOTHING_TO_REPAIR',
    detail: `the repair ${name} finds nothing to change in this trajectory`,
    hint: 'Only imported trajectories are repaired. GET /api/trajectories/{key}/health lists the repairs that help.',
  })
}

/** What undoing restores is part of the trajectory, which another program may have written. So the result is checked as a file is. */
function withoutRepair(trajectory: Trajectory, name: string): Trajectory {
  const undone = undoRepair(trajectory, name)
  const checked = undone && decodeValue(undone)
  if (checked?.ok) return checked.trajectory
  throw new HttpProblem({
    status: 409,
    code: 'NOTHING_TO_UNDO',
    detail: `the repair ${name} of this trajectory cannot be undone`,
    hint: 'It was not made, the trajectory does not record what it changed, or tokens were added since then. Import the file again.',
  })
}
