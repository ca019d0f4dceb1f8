/** Builds and compares two sides. The page, the HTTP routes and the command line all show this result. */
import { compareTrajectories, type TrajectoryComparison } from '#lib/trajectory/drift/compare.ts'
import { replaySide, type SideReplay } from './replay-side.ts'
import { buildSide } from './retokenized.ts'
import type { LoadedSide, ShownSide } from './shown-side.ts'

/** Two sides and their comparison. Spans of the comparison are tokens of the shown trajectories. */
export interface ComparedSides {
  readonly left: ShownSide
  readonly right: ShownSide
  readonly comparison: TrajectoryComparison
}

/** Returns whether both sides have the same ids, as one trajectory that is scored by two servers. */
export const hasSameIds = ({ comparison }: Pick<ComparedSides, 'comparison'>): boolean =>
  comparison.report.spans.length === 0

/** A comparison, or the side that could not be built. */
export type ComparisonResult =
  | { readonly ok: true; readonly value: ComparedSides }
  /** `why` and `hint` are sentences for a person. */
  | { readonly ok: false; readonly side: SideName; readonly why: string; readonly hint?: string }

/** Name of a side. */
export type SideName = 'left' | 'right'

/** Step of a comparison that begins: a side is built, its calls are replayed, or both sides are compared. */
export type CompareStep = SideName | 'calls' | 'drift'

/** Builds and compares two sides without a pause. Never throws for a side that cannot be built: returns the reason. */
export function compareSides(left: LoadedSide, right: LoadedSide): ComparisonResult {
  const steps = comparingSides(left, right)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Builds and compares two sides step by step. Yields each step before it begins. */
export function* comparingSides(left: LoadedSide, right: LoadedSide): Generator<CompareStep, ComparisonResult> {
  yield 'left'
  const builtLeft = buildSide(left)
  if (!builtLeft.ok) return { ...builtLeft, side: 'left' }
  yield 'right'
  const other = buildSide(right)
  if (!other.ok) return { ...other, side: 'right' }
  // The replay is that of the reconstructed side: the right one, or the left one if the right side is recorded.
  const side: SideName = right.as.kind === 'recorded' ? 'left' : 'right'
  const replayed = yield* replaySide(side === 'left' ? left : right)
  yield 'drift'
  const comparison = compareTrajectories(
    builtLeft.value.trajectory,
    other.value.trajectory,
    replayed && { ...replayed, side },
  )
  return {
    ok: true,
    value: {
      left: side === 'left' ? withCaveats(builtLeft.value, replayed) : builtLeft.value,
      right: side === 'right' ? withCaveats(other.value, replayed) : other.value,
      comparison,
    },
  }
}

const withCaveats = (side: ShownSide, replayed: SideReplay | undefined): ShownSide =>
  replayed && replayed.caveats.length > 0 ? { ...side, caveats: [...side.caveats, ...replayed.caveats] } : side
