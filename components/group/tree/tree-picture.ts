/** Everything that the tree is drawn from. */
import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { SampleBranch, TreeSpot } from '../tree.ts'
import type { TreeRows } from './rows.ts'

/** What the tree is drawn from. */
export interface TreePicture {
  readonly rows: TreeRows
  /** Returns what the rows of a branch are drawn from; undefined until its tokens are loaded. */
  readonly pictureOf: (branch: SampleBranch) => RowPicture | undefined
  /** Returns the loaded trajectory from which a branch is drawn. */
  readonly trajectoryOf: (branch: SampleBranch) => TrajectoryView | undefined
  /** Returns the distance of a branch from the left edge, in pixels. */
  readonly indentOf: (branch: SampleBranch) => number
  /** Width of a branch without indentation, in pixels. */
  readonly width: number
  /** Width of one cell, and size of the font, in pixels. */
  readonly cell: number
  readonly fontSize: number
  readonly pinned: TreeSpot | undefined
  readonly pointed: TreeSpot | undefined
  /** Indices of the samples that are not dimmed; undefined: all. */
  readonly chosen: ReadonlySet<number> | undefined
  /** Largest distance of an advantage from 0. */
  readonly farthest: number
}

/** Levels of splits that are indented. Deeper ones show the number of their level instead. */
export const DEEPEST_INDENT = 6

/** Returns the distance of a branch from the left edge, in pixels. A narrow view indents less. */
export const indentOfLevel = (level: number, width: number): number =>
  Math.min(level, DEEPEST_INDENT) * (width < NARROW ? NARROW_INDENT : INDENT)

const NARROW = 480
const INDENT = 18
const NARROW_INDENT = 8
