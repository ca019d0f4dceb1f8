import { expect, test } from 'vitest'
import { PNG_URL } from '#testing/images.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { imagesToScore } from '../scoring/score.ts'
import { toEngineInput } from './engine-input.ts'

const PAD = 9
const inputIds = [1, PAD, PAD, PAD, 2, PAD, PAD, 3]
const spans = [
  { start: 1, end: 4 },
  { start: 5, end: 7 },
]

test('each image is sent as one placeholder, and a position counts the tokens that the server will read', () => {
  // The server has read the first image as 3 tokens before. The number of the second is unknown, so that of the record counts.
  expect(toEngineInput({ inputIds, logprobStartLen: 7, images: { spans, known: [3] } })).toEqual({
    inputIds: [1, PAD, 2, PAD, 3],
    logprobStartLen: 7,
  })
  expect(toEngineInput({ inputIds, logprobStartLen: 7, images: { spans, known: [5, 1] } }).logprobStartLen).toBe(8)
  expect(toEngineInput({ inputIds, logprobStartLen: 4, images: { spans, known: [5, 1] } }).logprobStartLen).toBe(6)
})

test('a long text before an image is sent whole', () => {
  const text = Array<number>(1_000_000).fill(1)
  const images = { spans: [{ start: text.length, end: text.length + 2 }] }
  expect(toEngineInput({ inputIds: [...text, PAD, PAD, 2], images }).inputIds.slice(text.length)).toEqual([PAD, 2])
})

test('an input whose images are single placeholders is sent unchanged', () => {
  const single = [1, PAD, 2]
  const input = toEngineInput({ inputIds: single, images: { spans: [{ start: 1, end: 2 }] } })
  expect(input).toEqual({ inputIds: single })
})

test('a scoring request has the images of its trajectory, and no field without images', () => {
  expect(imagesToScore(sampleTrajectory)).toEqual({})
  expect(imagesToScore({ ...sampleTrajectory, imageData: [PNG_URL] })).toEqual({ images: [PNG_URL] })
})
