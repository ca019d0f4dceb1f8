/** Rows of the tree of a group whose tokens are as wide as their texts, for tests. */
import { segmentIndexAt, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { groupOf, type TestGroup, wordTrajectory } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { linesOfBranch } from './branch-lines.ts'
import type { BranchMode } from './folds.ts'
import { createPieceTables } from './piece-tables.ts'
import { rowsOfTree, type TreeRows } from './rows.ts'

const COLUMNS = 12

/** Returns the rows of a group at 12 columns. */
export function rowsOf(group: TestGroup, modeOf: (branch: number) => BranchMode, isLoaded = true): TreeRows {
  const tree = treeOfForest(group.forest)
  const tables = createPieceTables((text) => text.length)
  const trajectoryOf = (sample: number) => elementAt(group.trajectories, sample)
  return rowsOfTree(tree, {
    fontSize: 13,
    modeOf,
    columnsOf: () => COLUMNS,
    segmentOf: ({ sample }, token) => segmentIndexAt(segmentStarts(trajectoryOf(sample)), token),
    linesOf: (branch) => {
      const trajectory = trajectoryOf(branch.sample)
      return isLoaded
        ? linesOfBranch(trajectory.segments, segmentStarts(trajectory), branch, tables.tableOf(trajectory), COLUMNS)
        : undefined
    },
  })
}

const long = (words: number) => Array.from({ length: words }, () => 'list').join('|')

/** A group of two samples; the branch of the first one has 31 lines. */
export const LONG_GROUP = groupOf(
  [wordTrajectory('a', 'how', `find|${long(90)}`), wordTrajectory('b', 'how', `ls|${long(3)}`)],
  [1, 0],
)
