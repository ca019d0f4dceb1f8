/**
 * Repairs of imported trajectories, for faults of files that have one obvious remedy. None changes an id that stays. The user chooses a
 * repair by its name, and `provenance.repairs` records it.
 */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RepairOffer } from '#lib/trajectory/health/health.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { paddingLength, withoutLastTokens } from './padding.ts'
import { arePlaceholders, countLogprobs, type TokenClass, withoutZeros } from './placeholders.ts'

/** A repair. */
export interface Repair {
  /** As in requests and in `provenance.repairs`. */
  readonly name: string
  /** What it does, as the text of a button. */
  readonly title: string
  /** Returns what it changes, as a sentence; undefined if there is nothing to repair. */
  readonly finds: (trajectory: Trajectory) => string | undefined
  /** Returns the trajectory with the change, or unchanged if there is nothing to repair. */
  readonly repair: (trajectory: Trajectory) => Trajectory
}

/** Makes logprobs of 0 unknown if every known one of the class is 0. */
const zeroRepair = (of: TokenClass, name: string, title: string): Repair => {
  const finds = (trajectory: Trajectory) => {
    const tally = countLogprobs(trajectory)[of]
    if (!arePlaceholders(tally)) return undefined
    return `${countWithNoun(tally.zero, 'logprob')} of ${of} tokens that ${tally.zero === 1 ? 'was' : 'were'} exactly 0 became unknown.`
  }
  return {
    name,
    title,
    finds,
    repair: (trajectory) =>
      finds(trajectory) === undefined ? trajectory : withMissingLogprobs(withoutZeros(trajectory, of)),
  }
}

/** Marks logprobs as missing if none is left. */
function withMissingLogprobs(trajectory: Trajectory): Trajectory {
  const { provenance, segments } = trajectory
  if (provenance.kind !== 'import' || segments.some(({ logprobs }) => logprobs)) return trajectory
  const missing = [...new Set([...(provenance.missing ?? []), 'logprobs' as const])]
  return { ...trajectory, provenance: { ...provenance, missing } }
}

/** Logprobs of trained tokens that speculative decoding lost. */
export const TRAINED_ZEROS = zeroRepair(
  'trained',
  'zero-logprobs-trained',
  'Make the logprobs of trained tokens unknown',
)

/** Logprobs that pipelines write for tokens that were not sampled. */
export const CONTEXT_ZEROS = zeroRepair(
  'context',
  'zero-logprobs-context',
  'Make the logprobs of context tokens unknown',
)

/** Padding that a pipeline kept in its file. */
export const TRAILING_PADDING: Repair = {
  name: 'trailing-padding',
  title: 'Remove the padding at the end',
  finds: (trajectory) => {
    const count = paddingLength(trajectory)
    return count === 0
      ? undefined
      : `${countWithNoun(count, 'padding token')} at the end ${count === 1 ? 'was' : 'were'} removed.`
  },
  repair: (trajectory) => {
    const count = paddingLength(trajectory)
    return count === 0 ? trajectory : withoutLastTokens(trajectory, count)
  },
}

/** All repairs, in the order in which they are offered. */
export const repairs: readonly Repair[] = [TRAINED_ZEROS, CONTEXT_ZEROS, TRAILING_PADDING]

/** Returns how a health finding offers a repair; nothing for a trajectory that was not imported, because a run is never changed. */
export const offerRepair = ({ name, title }: Repair, { provenance }: Trajectory): { readonly repair?: RepairOffer } =>
  provenance.kind === 'import' ? { repair: { name, title } } : {}

/** Returns the repaired trajectory, which records the repair; undefined if there is nothing to repair, or the trajectory was not imported. */
export function applyRepair(trajectory: Trajectory, { name, finds, repair }: Repair): Trajectory | undefined {
  const message = finds(trajectory)
  const repaired = repair(trajectory)
  const { provenance } = repaired
  if (message === undefined || provenance.kind !== 'import') return undefined
  return { ...repaired, provenance: { ...provenance, repairs: [...(provenance.repairs ?? []), { name, message }] } }
}
