/** A run as programs that make it again. */
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { againOfTrajectory } from '#lib/reproduce/again.ts'
import { rolloutCurl } from '#lib/reproduce/curl.ts'
import { pythonScript } from '#lib/reproduce/python-script.ts'

/** Undefined where nothing of it was read. `baseUrl`: of its server; undefined: the script asks for it. */
export function runCode(trajectory: TrajectoryView, baseUrl: string | undefined) {
  const again = againOfTrajectory(trajectory)
  return again && { python: pythonScript(again, { baseUrl }), curl: rolloutCurl(again) }
}
