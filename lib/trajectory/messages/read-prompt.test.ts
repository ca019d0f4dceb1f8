import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { ResponseSegment } from '../format/trajectory.ts'
import { promptOf } from './read-prompt.ts'

const [prompt, response] = sampleTrajectory.segments as [(typeof sampleTrajectory.segments)[0], ResponseSegment]
const readAs = (read: { kept: number; ids: number[] }) => ({
  ...response,
  request: { ...(response.request as NonNullable<ResponseSegment['request']>), read },
})

test('promptOf returns the tokens before a response', () => {
  expect([...promptOf([7, 8, 9], response, 2)]).toEqual([7, 8])
  expect([...promptOf([7, 8, 9], prompt as ResponseSegment, 3)]).toEqual([7, 8, 9])
})

test('promptOf returns what the server read if it tokenized the messages again', () => {
  expect([...promptOf([7, 8, 9], readAs({ kept: 1, ids: [4, 5, 6] }), 2)]).toEqual([7, 4, 5, 6])
  expect([...promptOf([7, 8, 9], readAs({ kept: 0, ids: [] }), 2)]).toEqual([])
})
