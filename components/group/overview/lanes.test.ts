import { expect, test } from 'vitest'
import { ADVANTAGE, farthestAdvantage } from '../colour.ts'
import { exampleGroup, groupOf, wordTrajectory } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { axisTicks, branchAt, planLanes } from './lanes.ts'

const { forest } = exampleGroup()
const tree = treeOfForest(forest)
const plan = planLanes(tree, ADVANTAGE, farthestAdvantage(forest))

test('the overview has one lane for each sample, and draws shared tokens once', () => {
  expect([plan.laneCount, plan.length]).toEqual([8, 10])
  const drawn = plan.boxes.reduce((sum, { start, end }) => sum + end - start, 0)
  expect(drawn).toBe(forest.counts.distinctTokens)
  const area = plan.boxes.reduce((sum, { start, end, lanes }) => sum + (end - start) * (lanes.end - lanes.start), 0)
  expect(area).toBe(forest.counts.tokens)
})

test('the overview colours branches by advantage, and shared tokens and other colours by kind', () => {
  const fills = (colour: string) => new Set(planLanes(tree, colour, 1).boxes.map(({ fill }) => fill))
  expect([...fills('mask')]).toHaveLength(2)
  expect(plan.boxes.filter(({ branch }) => branch === 0).map(({ start, end }) => [start, end])).toEqual([
    [0, 3],
    [3, 5],
  ])
  expect(plan.boxes.find(({ branch }) => branch === 1)?.fill).toContain('cool')
  expect(plan.boxes.find(({ branch }) => branch === 8)?.fill).toContain('heat')
})

test('a position in the overview leads to the branch of its lane', () => {
  expect(branchAt(plan, 0, 4)).toBe(0)
  expect(branchAt(plan, 7, 4)).toBe(0)
  expect(branchAt(plan, 7, 5)).toBe(8)
  expect(branchAt(plan, 0, 99)).toBeUndefined()
})

test('samples that are identical to the end keep lanes of their own', () => {
  const same = groupOf([wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'how', 'I')], [1, 1])
  const { laneCount, boxes } = planLanes(treeOfForest(same.forest), 'mask', 0)
  expect(laneCount).toBe(2)
  expect(boxes.every(({ lanes }) => lanes.end - lanes.start === 2)).toBe(true)
})

test('the axis has round numbers from 0, as many as have room', () => {
  expect(axisTicks(768, 8)).toEqual([0, 100, 200, 300, 400, 500, 600, 700])
  expect(axisTicks(20_000, 4)).toEqual([0, 5_000, 10_000, 15_000, 20_000])
  expect(axisTicks(3, 8)).toEqual([0, 1, 2, 3])
  expect(axisTicks(0, 8)).toEqual([0])
})
