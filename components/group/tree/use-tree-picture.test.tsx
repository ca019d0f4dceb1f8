import { renderHook } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { DEFAULT_GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import type { useMeasure } from '#components/token-view/measure/use-measure.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { ADVANTAGE } from '../colour.ts'
import { clearGroup } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { NO_MODES } from './folds.ts'
import { type TreePictureOptions, useTreePicture } from './use-tree-picture.ts'

const { forest, trajectories } = clearGroup()
const tree = treeOfForest(forest)
const MEASURE: ReturnType<typeof useMeasure> = { columns: 80, cell: 8, fontSize: 13 }
const loaded = (...samples: readonly number[]) =>
  new Map(samples.map((sample) => [sample, elementAt(trajectories, sample)]))

test('A trajectory that is loaded while the tree scrolls leaves the pictures of other branches as they are', () => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  const options: TreePictureOptions = {
    tree,
    trajectories: loaded(0),
    modes: NO_MODES,
    options: DEFAULT_GRID_OPTIONS,
    colour: ADVANTAGE,
    limit: undefined,
    pinned: undefined,
    pointed: undefined,
    chosen: undefined,
    farthest: 1,
  }
  const { result, rerender } = renderHook((props: TreePictureOptions) => useTreePicture(props, MEASURE), {
    initialProps: options,
  })
  const [find, ls] = elementAt(tree.branches, 0).children.map((index) => elementAt(tree.branches, index))
  if (!find || !ls) throw new Error('the group has two branches')
  const before = result.current?.pictureOf(find)
  expect([before?.trajectory, result.current?.pictureOf(ls)]).toEqual([trajectories[0], undefined])
  // The branch that was loaded last is the first one.
  rerender({ ...options, trajectories: new Map([...loaded(4), ...loaded(0)]) })
  expect(result.current?.pictureOf(find)).toBe(before)
  expect(result.current?.pictureOf(ls)?.trajectory).toBe(trajectories[4])
  rerender({ ...options, trajectories: loaded(0, 4), farthest: 2 })
  expect(result.current?.pictureOf(find)).not.toBe(before)
})
