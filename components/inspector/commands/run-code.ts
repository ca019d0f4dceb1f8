/** A run as programs that repeat it. */

import { againOfTrajectory } from '#lib/share/reproduce/again.ts'
import { rolloutCurl } from '#lib/share/reproduce/curl.ts'
import { pythonScript } from '#lib/share/reproduce/python-script.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Returns the programs; undefined if the trajectory has no prompt. `baseUrl` is the address of the server; without it, the
 * script requires the variable SGLANG_BASE_URL.
 */
export function runCode(trajectory: TrajectoryView, baseUrl: string | undefined) {
  const again = againOfTrajectory(trajectory)
  return again && { python: pythonScript(again, { baseUrl }), curl: rolloutCurl(again) }
}
