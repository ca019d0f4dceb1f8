/** Answers viewers of a stored trajectory. */
import { isWorthPacking } from '#lib/store/packed.ts'
import { PACKED_TYPE, packedAnswer } from '#lib/trajectory/tokens/packed-bytes.ts'
import { storedRow } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { exportPart } from './exporting.ts'

/**
 * Returns a trajectory for a viewer, which extends the time of a rollout on it: as packed bytes if the viewer accepts them, because reading
 * JSON costs the page a worker. Throws HttpProblem 404.
 */
export async function trajectoryForViewer(request: Request, key: string, all: Services): Promise<Response> {
  all.runs.lookedAt(key)
  const isPacked = request.headers.get('accept')?.includes(PACKED_TYPE) ?? false
  const copy = isPacked ? all.store.packed(key) : undefined
  if (isPacked && !copy) {
    const { tokens, outcomeKind } = storedRow(key, all)
    if (outcomeKind !== 'running' && isWorthPacking(tokens)) all.health.recheck(key)
  }
  const content = copy
    ? packedAnswer(copy.labels, copy.bytes)
    : await exportPart({ kind: 'view', key, options: { isPacked } }, all, request.signal)
  return new Response(content, {
    headers: { 'content-type': isPacked ? PACKED_TYPE : 'application/json', 'cache-control': 'no-store' },
  })
}
