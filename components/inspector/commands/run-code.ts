/** A run as programs that repeat it. */

import { branchCurl, branchOfTrajectory, branchPython } from '#lib/share/reproduce/branch.ts'
import { rolloutCurl } from '#lib/share/reproduce/curl.ts'
import { pythonScript } from '#lib/share/reproduce/python-script.ts'
import { repeatableRunOfTrajectory } from '#lib/share/reproduce/repeatable-run.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Returns the programs; undefined if the trajectory has no prompt. A branch is repeated from the trajectory that it begins with. `baseUrl`
 * is the address of the server; without it, the script of a run requires the variable SGLANG_BASE_URL.
 */
export function runCode(trajectory: TrajectoryView, baseUrl: string | undefined) {
  const branch = branchOfTrajectory(trajectory)
  if (branch) return { python: branchPython(branch), curl: branchCurl(branch) }
  const again = repeatableRunOfTrajectory(trajectory)
  return again && { python: pythonScript(again, { baseUrl }), curl: rolloutCurl(again) }
}
