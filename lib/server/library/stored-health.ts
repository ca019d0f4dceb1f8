/** The health of a stored trajectory, drift included where its tokenizer is on this machine: nothing is downloaded for it. */

import { type Drift, driftTokenizer, withDrift } from '#lib/analysis/health/drift.ts'
import { health } from '#lib/analysis/health/health.ts'
import { textDrift } from '#lib/analysis/health/text-drift.ts'
import { resultOf } from '#lib/tasks/task.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Health } from '#lib/trajectory/health/health.ts'

/** Places kept of each finding; its count is of all. */
const MOST_PLACES = 200

/** `found`: the trajectory, or why it cannot be read. `tokenizers` must not download. */
export async function storedHealth(
  found: Trajectory | string,
  tokenizers: Pick<TokenizerLoader, 'load'>,
): Promise<Health> {
  if (typeof found === 'string') return unchecked('damaged', `The stored trajectory cannot be read: ${found}`)
  const whole = withDrift(resultOf(health(found)), await drift(found, tokenizers))
  return {
    ...whole,
    findings: whole.findings.map((finding) => ({ ...finding, places: finding.places.slice(0, MOST_PLACES) })),
  }
}

/** Of one that could not be looked at: it is kept too, so that it is not tried again and again. */
export const unchecked = (label: string, message: string): Health => ({
  findings: [
    {
      kind: 'unreadable',
      severity: 'error',
      label,
      message,
      count: 1,
      places: [],
    },
  ],
  checks: [],
})

async function drift(trajectory: Trajectory, tokenizers: Pick<TokenizerLoader, 'load'>): Promise<Drift> {
  const wanted = driftTokenizer(trajectory.model)
  if ('why' in wanted) return { kind: 'unknown', why: wanted.why }
  try {
    return textDrift(trajectory, (await tokenizers.load(wanted.name)).tokenizer)
  } catch (error) {
    if (error instanceof TokenizerError) return { kind: 'unknown', why: error.message }
    throw error
  }
}
