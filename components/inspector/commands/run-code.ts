/** A run as programs that make it again. */

import { againOfTrajectory } from '#lib/share/reproduce/again.ts'
import { rolloutCurl } from '#lib/share/reproduce/curl.ts'
import { pythonScript } from '#lib/share/reproduce/python-script.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Undefined where nothing of it was read. `baseUrl`: of its server; undefined: the script asks for it. */
export function runCode(trajectory: TrajectoryView, baseUrl: string | undefined) {
  const again = againOfTrajectory(trajectory)
  return again && { python: pythonScript(again, { baseUrl }), curl: rolloutCurl(again) }
}
