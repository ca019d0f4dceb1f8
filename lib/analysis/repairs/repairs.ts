/**
 * Repairs of imported trajectories, for faults of files that have one obvious remedy. None changes an id that stays. The user chooses a
 * repair by its name, and `provenance.repairs` records it.
 */

import type { RepairUndo, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RepairOffer } from '#lib/trajectory/health/health.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { paddingLength, removedTokens, withoutLastTokens, withRemovedTokens } from './padding.ts'
import { arePlaceholders, countLogprobs, type TokenClass, withoutZeros, withZeros, zeroRanges } from './placeholders.ts'

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
  /** Returns what undoing it restores. */
  readonly undo: (before: Trajectory, after: Trajectory) => RepairUndo
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
    undo: (before) => ({ kind: 'zeros', ranges: zeroRanges(before, of) }),
  }
}

/** Marks logprobs as missing if none is left. */
function withMissingLogprobs(trajectory: Trajectory): Trajectory {
  const { provenance, segments } = trajectory
  if (provenance.kind !== 'import' || hasLogprobs(segments)) return trajectory
  const missing = [...new Set([...(provenance.missing ?? []), 'logprobs' as const])]
  return { ...trajectory, provenance: { ...provenance, missing } }
}

const hasLogprobs = (segments: readonly Segment[]): boolean =>
  segments.some(({ logprobs }) => logprobs?.some((logprob) => logprob !== null))

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
  undo: removedTokens,
}

/** All repairs, in the order in which they are offered. */
export const repairs: readonly Repair[] = [TRAINED_ZEROS, CONTEXT_ZEROS, TRAILING_PADDING]

/** Returns how a health finding offers a repair; nothing for a trajectory that was not imported, because a run is never changed. */
export const offerRepair = ({ name, title }: Repair, { provenance }: Trajectory): { readonly repair?: RepairOffer } =>
  provenance.kind === 'import' ? { repair: { name, title } } : {}

/** Returns the repaired trajectory, which records the repair; undefined if there is nothing to repair, or the trajectory was not imported. */
export function applyRepair(trajectory: Trajectory, { name, finds, repair, undo }: Repair): Trajectory | undefined {
  const message = finds(trajectory)
  const repaired = repair(trajectory)
  const { provenance } = repaired
  if (message === undefined || provenance.kind !== 'import') return undefined
  const record = { name, message, undo: undo(trajectory, repaired) }
  return { ...repaired, provenance: { ...provenance, repairs: [...(provenance.repairs ?? []), record] } }
}

/**
 * Returns the trajectory without the last repair of this name: with the numbers and the tokens of its file. Later repairs are undone
 * before it and made again. Undefined if there is no such repair, or if it cannot be undone.
 */
export function undoRepair(trajectory: Trajectory, name: string): Trajectory | undefined {
  const recorded = trajectory.provenance.kind === 'import' ? (trajectory.provenance.repairs ?? []) : []
  const place = recorded.findLastIndex((record) => record.name === name)
  if (place < 0) return undefined
  let undone: Trajectory | undefined = trajectory
  for (let left = recorded.length; left > place; left--) undone = undone && withoutLastRepair(undone)
  for (const later of recorded.slice(place + 1)) {
    const repair = repairs.find((one) => one.name === later.name)
    undone = undone && repair && (applyRepair(undone, repair) ?? undone)
  }
  return undone
}

function withoutLastRepair(trajectory: Trajectory): Trajectory | undefined {
  const { provenance } = trajectory
  if (provenance.kind !== 'import') return undefined
  const { repairs: recorded = [], missing, ...origin } = provenance
  const undo = recorded.at(-1)?.undo
  const restored =
    undo && (undo.kind === 'zeros' ? withZeros(trajectory, undo.ranges) : withRemovedTokens(trajectory, undo))
  if (!restored) return undefined
  const stillMissing = hasLogprobs(restored.segments) ? missing?.filter((content) => content !== 'logprobs') : missing
  const others = recorded.slice(0, -1)
  return {
    ...restored,
    provenance: {
      ...origin,
      ...(stillMissing && stillMissing.length > 0 && { missing: stillMissing }),
      ...(others.length > 0 && { repairs: others }),
    },
  }
}
