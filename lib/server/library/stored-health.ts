/** Computes the health of a stored trajectory. Drift is included if its tokenizer is on this machine; nothing is downloaded. */

import { type Drift, driftTokenizer, withDrift } from '#lib/analysis/health/drift.ts'
import { health } from '#lib/analysis/health/health.ts'
import { textDrift } from '#lib/analysis/health/text-drift.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Health } from '#lib/trajectory/health/health.ts'
import { uncheckedHealth } from './health-worker-messages.ts'

/** Number of places that are kept for each finding; its count includes all. */
const MOST_PLACES = 200

/** Returns the health of a trajectory. `found` may be the reason why it cannot be read; `tokenizers` must not download. */
export async function storedHealth(
  found: Trajectory | string,
  tokenizers: Pick<TokenizerLoader, 'load'>,
): Promise<Health> {
  if (typeof found === 'string') return uncheckedHealth('damaged', `The stored trajectory cannot be read: ${found}`)
  const whole = withDrift(runToEnd(health(found)), await drift(found, tokenizers))
  return {
    ...whole,
    findings: whole.findings.map((finding) => ({ ...finding, places: finding.places.slice(0, MOST_PLACES) })),
  }
}

async function drift(trajectory: Trajectory, tokenizers: Pick<TokenizerLoader, 'load'>): Promise<Drift> {
  const wanted = driftTokenizer(trajectory)
  if ('why' in wanted) return { kind: 'unknown', why: wanted.why }
  try {
    return textDrift(trajectory, (await tokenizers.load(wanted.name)).tokenizer)
  } catch (error) {
    if (error instanceof TokenizerError) return { kind: 'unknown', why: error.message }
    throw error
  }
}
