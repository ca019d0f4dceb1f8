'use client'
/** Makes the rows of the tree and everything that one drawing shows. Each part changes only with its own input. */
import { useEffect, useMemo, useState } from 'react'
import { whenIdle } from '#components/shell/when-idle.ts'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { type Colouring, colouringOf } from '#components/token-view/colour/colouring.ts'
import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import { type GridOptions, rowHeightOf } from '#components/token-view/grid-options.ts'
import { measureText } from '#components/token-view/measure/measure-text.ts'
import type { useMeasure } from '#components/token-view/measure/use-measure.ts'
import type { TokenMarks } from '#components/token-view/token-marks.ts'
import { isTrained, segmentIndexAt, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { ADVANTAGE, advantageColour } from '../colour.ts'
import { type SampleBranch, type SampleTree, siblingsOf, type TreeSpot } from '../tree.ts'
import { type BranchLines, linesOfBranch } from './branch-lines.ts'
import { type BranchModes, modeOf } from './folds.ts'
import { createPieceTables, type PieceTables } from './piece-tables.ts'
import { rowsOfTree } from './rows.ts'
import { indentOfLevel, type TreePicture } from './tree-picture.ts'
import type { Trajectories } from './use-trajectories.ts'

/** The input of a drawing of the tree. */
export interface TreePictureOptions {
  readonly tree: SampleTree
  readonly trajectories: Trajectories
  readonly modes: BranchModes
  readonly options: GridOptions
  /** Name of the colour mode. */
  readonly colour: string
  /** The end of the colour scale; undefined: p95. */
  readonly limit: number | undefined
  readonly pinned: TreeSpot | undefined
  readonly pointed: TreeSpot | undefined
  readonly chosen: ReadonlySet<number> | undefined
  /** Largest distance of an advantage from 0. */
  readonly farthest: number
}

const NO_MARKS: readonly TokenMarks[] = []

/** Returns the picture; undefined before the first measurement. */
export function useTreePicture(
  props: TreePictureOptions,
  measure: ReturnType<typeof useMeasure>,
): TreePicture | undefined {
  const { tree, trajectories, modes, options, colour, limit, pinned, pointed, chosen, farthest } = props
  const cell = measure?.cell
  const fontSize = measure?.fontSize
  const columns = measure?.columns
  const tables = useMemo(
    () =>
      cell === undefined || fontSize === undefined
        ? undefined
        : createPieceTables((text) => measureText(text, fontSize) / cell),
    [cell, fontSize],
  )
  const settled = useSettledTables(tables, trajectories)
  const [lineCache] = useState(() => createStateCache<string, BranchLines>())
  const [pictureCache] = useState(() => createStateCache<number, RowPicture>())
  const indentOf = useMemo(() => {
    const width = (columns ?? 0) * (cell ?? 1)
    return ({ level }: SampleBranch) => indentOfLevel(level, width)
  }, [columns, cell])
  const space = useMemo(
    () =>
      tables && columns !== undefined && cell !== undefined
        ? {
            tables,
            columnsOf: (branch: SampleBranch) => Math.max(12, columns - Math.ceil(indentOf(branch) / cell)),
          }
        : undefined,
    [tables, columns, cell, indentOf],
  )
  const rows = useMemo(
    () =>
      space && fontSize !== undefined
        ? rowsOfTree(tree, {
            fontSize,
            columnsOf: space.columnsOf,
            modeOf: (index) => {
              const branch = tree.branches[index]
              return branch ? modeOf(tree, branch, modes) : 'short'
            },
            segmentOf: ({ sample }, token) => {
              const trajectory = trajectories.get(sample)
              return trajectory ? segmentIndexAt(segmentStarts(trajectory), token) : -1
            },
            linesOf: (branch) => {
              const trajectory = trajectories.get(branch.sample)
              if (!trajectory) return undefined
              const cached = lineCache.of(space.tables, columns, settled)
              const key = `${branch.start}-${branch.end}-${branch.sample}-${trajectory.segments.length}`
              const found = cached.get(key)
              if (found) return found
              const lines = linesOfBranch(
                segmentsOf(trajectory),
                segmentStarts(trajectory),
                branch,
                space.tables.tableOf(trajectory),
                space.columnsOf(branch),
              )
              // The lines of a running sample change with its tokens.
              if (lines.end === branch.end) cached.set(key, lines)
              return lines
            },
          })
        : undefined,
    [tree, trajectories, modes, space, columns, settled, fontSize, lineCache],
  )
  const colourings = useColourings(trajectories, colour, limit)
  const pictureOf = useMemo(() => {
    // A trajectory that has been loaded changes the pictures of its own branches only, so that other rows are not painted again.
    const pictures = pictureCache.of(tree, space, cell, colour, colourings, farthest, options, pinned)
    const marked = markedBranches(tree, pinned)
    return (branch: SampleBranch): RowPicture | undefined => {
      const trajectory = trajectories.get(branch.sample)
      if (!trajectory || !space || cell === undefined) return undefined
      const found = pictures.get(branch.index)
      if (found?.trajectory === trajectory) return found
      const reading = trajectoryReading(colourings(trajectory))
      const picture: RowPicture = {
        trajectory,
        layout: {
          columns: space.columnsOf(branch),
          rowHeight: rowHeightOf(options.fontSize),
          table: space.tables.tableOf(trajectory),
        },
        reading: colour === ADVANTAGE ? { ...reading, colour: branchColour(branch, farthest) } : reading,
        cell,
        specialIds: specialIdsOf(trajectory),
        selection: undefined,
        marks: marked.get(branch.index) ?? NO_MARKS,
        options,
        canFold: false,
      }
      pictures.set(branch.index, picture)
      return picture
    }
  }, [tree, trajectories, space, cell, colour, colourings, farthest, options, pinned, pictureCache])
  const trajectoryOf = useMemo(
    () =>
      ({ sample }: SampleBranch) =>
        trajectories.get(sample),
    [trajectories],
  )
  const width = (columns ?? 0) * (cell ?? 1)
  return useMemo(
    () =>
      rows && cell !== undefined && fontSize !== undefined
        ? { rows, pictureOf, trajectoryOf, indentOf, width, cell, fontSize, pinned, pointed, chosen, farthest }
        : undefined,
    [rows, pictureOf, trajectoryOf, indentOf, width, cell, fontSize, pinned, pointed, chosen, farthest],
  )
}

/** Returns the reader of the colour of a branch: its mean advantage, at its trained tokens. Shared tokens have no colour. */
function branchColour({ advantage, parent }: SampleBranch, farthest: number): RowPicture['reading']['colour'] {
  const colour = parent === undefined ? undefined : advantageColour(advantage, farthest)
  return (_index, segment, offset) => (isTrained(segment, offset) ? colour : undefined)
}

const specialIdsOf = memoizeByIdentity(
  ({ model }: TrajectoryView): ReadonlySet<number> => new Set(model.tokenizer?.specialIds ?? []),
)

/** Marks the first tokens of the other branches at the split of the pinned token. */
function markedBranches(tree: SampleTree, pinned: TreeSpot | undefined): ReadonlyMap<number, readonly TokenMarks[]> {
  const branch = pinned && tree.branches[pinned.branch]
  if (!branch || pinned.token !== branch.start) return new Map()
  return new Map(
    siblingsOf(tree, branch)
      .filter(({ index }) => index !== branch.index)
      .map(({ index, start }) => [index, [{ kind: 'linked', ranges: Int32Array.of(start, start + 1) }]]),
  )
}

/** Returns the colouring of each trajectory, all on the scale of the first one that is loaded, so that one colour is one value. */
function useColourings(trajectories: Trajectories, colour: string, limit: number | undefined) {
  const [loaded] = trajectories.values()
  // Advantages have the same scale in all trajectories, whichever is loaded first.
  const first = colour === ADVANTAGE ? undefined : loaded
  return useMemo(() => {
    const name = colour === ADVANTAGE ? 'none' : colour
    const shared = first && colouringOf(first, name, limit)
    if (shared && shared.scale.kind === 'number' && shared.scale.known > 0) return () => shared
    return memoizeByIdentity((trajectory: TrajectoryView): Colouring => colouringOf(trajectory, name, limit))
  }, [first, colour, limit])
}

/** Returns a cache that is empty again when a part of the state changes. */
function createStateCache<Key, Value>() {
  let now: readonly unknown[] = []
  let values = new Map<Key, Value>()
  return {
    of: (...state: readonly unknown[]): Map<Key, Value> => {
      if (state.length !== now.length || state.some((part, index) => part !== now[index])) {
        now = state
        values = new Map()
      }
      return values
    },
  }
}

const SETTLED_AT_ONCE = 20
/** Longest time without a slice of measuring while the view scrolls, in milliseconds. */
const LONGEST_WAIT_MS = 1_000

/** Measures estimated widths in slices. Returns a number that increases when widths have changed. */
function useSettledTables(tables: PieceTables | undefined, trajectories: Trajectories): number {
  const [settled, setSettled] = useState(0)
  const { size } = trajectories
  useEffect(() => {
    // Other trajectories may bring other texts.
    if (size === 0 || !tables?.settle(0)) return
    const version = tables.version()
    let cancel: () => void
    const slice = (until: number) => {
      let isLeft = true
      do isLeft = tables.settle(SETTLED_AT_ONCE)
      while (isLeft && performance.now() < until)
      if (isLeft) cancel = whenIdle(LONGEST_WAIT_MS, slice)
      else if (tables.version() !== version) setSettled((count) => count + 1)
    }
    cancel = whenIdle(LONGEST_WAIT_MS, slice)
    return () => cancel()
  }, [tables, size])
  return settled
}
