/** Two sides made and held against each other: what the page, the routes and the command line all show. */
import { compareTrajectories, type TrajectoryComparison } from '#lib/trajectory/drift/compare.ts'
import { replaySide, type SideReplay } from './replay-side.ts'
import { shownSide } from './retokenized.ts'
import type { LoadedSide, ShownSide } from './shown-side.ts'

export interface Compared {
  readonly left: ShownSide
  readonly right: ShownSide
  readonly comparison: TrajectoryComparison
}

export type Comparing =
  | { readonly ok: true; readonly value: Compared }
  /** In a person's words, with the side that cannot be made. */
  | { readonly ok: false; readonly side: SideName; readonly why: string; readonly hint?: string }

export type SideName = 'left' | 'right'

/** What is under way: a side is being made, its calls are replayed, or both sides are compared. */
export type CompareStep = SideName | 'calls' | 'drift'

export function compareSides(left: LoadedSide, right: LoadedSide): Comparing {
  const steps = comparingSides(left, right)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same step by step, each reported before it is done. */
export function* comparingSides(left: LoadedSide, right: LoadedSide): Generator<CompareStep, Comparing> {
  yield 'left'
  const made = shownSide(left)
  if (!made.ok) return { ...made, side: 'left' }
  yield 'right'
  const other = shownSide(right)
  if (!other.ok) return { ...other, side: 'right' }
  // What is replayed is the pipeline: the right side, or the left where only that is made again.
  const side: SideName = right.as.kind === 'recorded' ? 'left' : 'right'
  const replayed = yield* replaySide(side === 'left' ? left : right)
  yield 'drift'
  const comparison = compareTrajectories(
    made.value.trajectory,
    other.value.trajectory,
    replayed && { ...replayed, side },
  )
  return {
    ok: true,
    value: {
      left: side === 'left' ? withCaveats(made.value, replayed) : made.value,
      right: side === 'right' ? withCaveats(other.value, replayed) : other.value,
      comparison,
    },
  }
}

const withCaveats = (side: ShownSide, replayed: SideReplay | undefined): ShownSide =>
  replayed && replayed.caveats.length > 0 ? { ...side, caveats: [...side.caveats, ...replayed.caveats] } : side
