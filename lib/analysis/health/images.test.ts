import { expect, test } from 'vitest'
import type { Message, PromptSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { PNG_URL } from '#testing/images.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { checkImages } from './images.ts'

const [PAD, TEXT] = [1, 2]
const png = { type: 'image', image: PNG_URL }
const user = (...content: readonly { readonly type: string }[]): Message => ({ role: 'user', content })
const prompt = (ids: readonly number[], ...messages: readonly Message[]): PromptSegment => ({
  kind: 'prompt',
  ids,
  messages,
})
const response = (ids: readonly number[]): Segment => ({ kind: 'response', ids, thinks: [], toolCalls: [] })

function check(segments: readonly Segment[], more: Partial<Trajectory> = {}) {
  const trajectory: Trajectory = {
    ...sample,
    vocab: { [PAD]: '<|image_pad|>', [TEXT]: 'look' },
    model: { ...sample.model, tokenizer: { name: 't', specialIds: [PAD] } },
    segments,
    ...more,
  }
  const { findings, unknown } = checkImages(trajectory, segmentStarts(trajectory))
  return {
    unknown,
    findings: findings.map(({ label, places }) => [label, ...places.map(({ start, end }) => `${start}-${end}`)]),
  }
}

test('a trajectory with as many placeholders as images has no finding, whatever their lengths', () => {
  const none = { unknown: undefined, findings: [] }
  expect(check([prompt([PAD, PAD, TEXT, PAD], user(png, png)), response([TEXT]), prompt([PAD], user(png))])).toEqual(
    none,
  )
  expect(check([prompt([PAD, TEXT]), prompt([PAD, PAD])], { imageData: [PNG_URL, PNG_URL] })).toEqual(none)
  expect(check([prompt([TEXT], user({ type: 'text' }))])).toEqual(none)
})

test('each segment with another number of placeholders than images is an error at its placeholders', () => {
  expect(check([prompt([TEXT, PAD, TEXT, PAD], user(png)), prompt([TEXT, TEXT], user(png, png))]).findings).toEqual([
    ['1 image, 2 placeholders', '1-2', '3-4'],
    ['2 images, 0 placeholders', '4-6'],
  ])
})

test('a file whose images are no parts of messages is compared as a whole', () => {
  expect(check([prompt([PAD, TEXT]), prompt([PAD])], { imageData: [PNG_URL] }).findings).toEqual([
    ['1 image, 2 placeholders', '0-1', '2-3'],
  ])
})

test('placeholders that are trained are an error', () => {
  const masked: Segment = { ...prompt([PAD, PAD], user(png)), mask: [0, 1] }
  expect(check([masked, response([TEXT, PAD])]).findings).toEqual([['2 trained image placeholders', '0-2', '3-4']])
})

test('a file with placeholders and without images cannot be checked', () => {
  expect(check([prompt([PAD])])).toEqual({ unknown: 'the file does not contain its images', findings: [] })
})
