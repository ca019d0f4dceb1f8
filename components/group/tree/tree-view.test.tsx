import { beforeEach, describe, expect, test, vi } from 'vitest'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import type { TreeSpot } from '../tree.ts'
import type { BranchMode } from './folds.ts'
import { itemOfSpot, rowOfToken, type TreeRows } from './rows.ts'
import { LONG_GROUP, rowsOf } from './test-rows.ts'
import type { TreePicture } from './tree-picture.ts'
import { createTreeView, type TreeView } from './tree-view.ts'

const VIEW_HEIGHT = 120

/** Returns a picture whose tokens are not loaded, so that only positions count. */
const pictureOf = (rows: TreeRows): TreePicture => ({
  rows,
  pictureOf: () => undefined,
  trajectoryOf: () => undefined,
  indentOf: () => 0,
  width: 900,
  cell: 8,
  fontSize: 13,
  pinned: undefined,
  pointed: undefined,
  chosen: undefined,
  farthest: 0,
})

const rowsIn = (...modes: readonly BranchMode[]) => rowsOf(LONG_GROUP, (branch) => modes[branch] ?? 'short')

/** Returns the top of the line with a token. */
function topOf(rows: TreeRows, spot: TreeSpot): number {
  const index = itemOfSpot(rows, spot)
  return float64At(rows.tops, index) + rowOfToken(elementAt(rows.items, index), spot.token) * rows.rowHeight
}

let viewport: HTMLElement
let view: TreeView
beforeEach(() => {
  viewport = document.createElement('div')
  vi.spyOn(viewport, 'clientHeight', 'get').mockReturnValue(VIEW_HEIGHT)
  const [canvas, layer] = [document.createElement('div'), document.createElement('div')]
  view = createTreeView(viewport, canvas, layer, () => {})
})

describe('The view of a tree', () => {
  test('keeps the line at its top when a branch above it shows all of its tokens', () => {
    const [short, whole] = [rowsIn('short', 'short', 'short'), rowsIn('short', 'whole', 'short')]
    const last = { branch: 1, token: 90 }
    view.show(pictureOf(short))
    view.scrollTo(topOf(short, last) - 5)
    const before = topOf(short, last) - viewport.scrollTop
    view.show(pictureOf(whole))
    expect(topOf(whole, last) - viewport.scrollTop).toBe(before)
    expect(before).toBe(5)
    expect(viewport.scrollTop).toBeGreaterThan(topOf(short, last))
    view.show(pictureOf(short))
    expect(topOf(short, last) - viewport.scrollTop).toBe(before)
  })

  test('stays at the very top when rows change', () => {
    view.show(pictureOf(rowsIn('short', 'short', 'short')))
    view.show(pictureOf(rowsIn('short', 'whole', 'short')))
    expect(viewport.scrollTop).toBe(0)
  })

  test('scrolls to a token only if its line is not visible', () => {
    const whole = rowsIn('short', 'whole', 'short')
    view.show(pictureOf(whole))
    const [near, far] = [
      { branch: 0, token: 0 },
      { branch: 1, token: 60 },
    ]
    view.reveal(near)
    expect(viewport.scrollTop).toBe(0)
    view.reveal(far)
    expect(topOf(whole, far)).toBeGreaterThanOrEqual(viewport.scrollTop)
    expect(topOf(whole, far) + whole.rowHeight).toBeLessThanOrEqual(viewport.scrollTop + VIEW_HEIGHT)
    const { scrollTop } = viewport
    view.reveal(far)
    expect(viewport.scrollTop).toBe(scrollTop)
    view.reveal(near)
    expect(topOf(whole, near)).toBeGreaterThanOrEqual(viewport.scrollTop)
    expect(viewport.scrollTop).toBeLessThan(scrollTop)
  })
})
