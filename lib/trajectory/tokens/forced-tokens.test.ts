import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Segment, Trajectory } from '../format/trajectory.ts'
import { countForced, forcedAt, withForced } from './forced-tokens.ts'
import { lossMask } from './tokens.ts'

const plain: Segment = { kind: 'response', ids: [1, 2], mask: [1, 0], thinks: [], toolCalls: [] }
const response: Segment = {
  kind: 'response',
  ids: [1, 2, 3, 4],
  mask: [0, 1, 0, 1],
  forced: [{ start: 2, end: 3, as: 'text' }],
  thinks: [],
  toolCalls: [],
}
const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [{ kind: 'prompt', ids: [9], messages: [] }, plain, response],
}

test('An export that trains inserted tokens changes their mask and no other', () => {
  expect(lossMask(withForced(trajectory, 'trained'))).toEqual([0, 1, 0, 0, 1, 1, 1])
  expect(lossMask(withForced(trajectory, 'context'))).toEqual([0, 1, 0, 0, 1, 0, 1])
})

test('forcedAt returns the inserted tokens of a response only', () => {
  const prompt: Segment = { kind: 'prompt', ids: [9], messages: [] }
  expect([1, 2, 3].map((index) => forcedAt(response, index)?.as)).toEqual([undefined, 'text', undefined])
  expect([forcedAt(plain, 0), forcedAt(prompt, 0)]).toEqual([undefined, undefined])
})

test('countForced counts inserted tokens over all responses', () => {
  const twice = { ...response, forced: [...(response.forced ?? []), { start: 3, end: 4, as: 'ids' as const }] }
  expect([countForced(trajectory), countForced({ ...trajectory, segments: [twice, response, plain] })]).toEqual([1, 3])
})
