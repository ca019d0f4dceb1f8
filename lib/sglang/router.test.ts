import { expect, test } from 'vitest'
import { droppedByRouter } from './router.ts'

const router = { kind: 'router' } as const
const sampling = { temperature: 1, logit_bias: { 5: 1 }, stop_regex: ['a+'] }
const names = (problems: ReturnType<typeof droppedByRouter>) => problems.map(({ column }) => column)

test('what a router drops is noted; what it passes on, and what a server gets, is not', () => {
  expect(names(droppedByRouter(router, sampling, { kind: 'length' }))).toEqual(['logit_bias', 'stop_regex'])
  expect(droppedByRouter(router, { temperature: 1, stop: ['x'] }, { kind: 'length' })).toEqual([])
  expect(droppedByRouter({ kind: 'server' }, sampling, { kind: 'length' })).toEqual([])
})

test('a reply that ended at a pattern shows that the pattern arrived', () => {
  expect(names(droppedByRouter(router, sampling, { kind: 'stop', matched: 'a+' }))).toEqual(['logit_bias'])
  expect(names(droppedByRouter(router, sampling, { kind: 'stop', matched: 7 }))).toEqual(['logit_bias', 'stop_regex'])
})
