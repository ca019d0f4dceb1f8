/** The heads of branches at different widths. */
import { expect, test } from 'vitest'
import { elementAt } from '#lib/util/element-at.ts'
import { groupOf, wordTrajectory } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { makeHead, paintHead } from './branch-head.ts'
import { rowsOfTree } from './rows.ts'

const COUNT = 16
const { forest } = groupOf(
  Array.from({ length: COUNT }, (_, index) =>
    wordTrajectory(`k${index}`, 'how|many|?', index < 14 ? 'I|list|find|13' : 'I|list|ls|13'),
  ),
  Array.from({ length: COUNT }, (_, index) => (index < 14 ? 1 : 0)),
)
const tree = treeOfForest(forest)

function headAt(width: number, indent: number) {
  const rows = rowsOfTree(tree, {
    modeOf: () => 'short',
    linesOf: () => undefined,
    segmentOf: () => -1,
    columnsOf: () => 80,
    fontSize: 13,
  })
  const head = makeHead()
  paintHead(head, elementAt(tree.branches, elementAt(elementAt(tree.branches, 0).children, 0)), false, 0, {
    rows,
    pictureOf: () => undefined,
    trajectoryOf: () => undefined,
    indentOf: () => indent,
    width,
    cell: 8,
    fontSize: 13,
    pinned: undefined,
    pointed: undefined,
    chosen: undefined,
    farthest: 1,
  })
  return { element: head.element, numbers: [...head.samples.children].map(({ textContent }) => textContent) }
}

test('The head of a branch lists as many samples as its width allows, and counts the others', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))
  expect(headAt(1_000, 0).numbers).toEqual([...numbers(11), '+3'])
  // The sixth level of a window of 1440 pixels.
  expect(headAt(770, 108).numbers).toEqual([...numbers(4), '+10'])
  expect(headAt(300, 48).numbers).toEqual([...numbers(2), '+12'])
})

test('The head of a narrow branch has no plot, whose numbers follow it, and repeats its labels in a title', () => {
  expect(headAt(1_000, 0).element.dataset.narrow).toBe('false')
  const { element } = headAt(770, 108)
  expect(element.dataset.narrow).toBe('true')
  expect(element.querySelector<HTMLElement>('.branch-chips')?.title).toBe('all 1.00, identical to the end')
})
