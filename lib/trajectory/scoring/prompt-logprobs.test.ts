import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { PromptSegment, ResponseSegment, Trajectory } from '../format/trajectory.ts'
import { pack } from '../tokens/packed.ts'
import { ids } from '../tokens/tokens.ts'
import { isUnscoredAt, unscoredPrompts, withPromptLogprobs } from './prompt-logprobs.ts'

const [prompt, response] = sample.segments as [PromptSegment, ResponseSegment]
const { logprobs: _, ...unscored } = prompt
const of = (...segments: Trajectory['segments']): Trajectory => ({ ...sample, segments })
const twoTurns = of(unscored, response, { ...unscored, logprobs: [null, null, null] }, response)
const scored = { server: 's', at: '2026-01-01T00:00:00.000Z' }

test('unscoredPrompts returns prompts without any known logprob, packed or not', () => {
  const ranges = [
    { start: 0, end: 3 },
    { start: 8, end: 11 },
  ]
  expect(unscoredPrompts(twoTurns)).toEqual(ranges)
  expect(unscoredPrompts(pack(twoTurns).trajectory)).toEqual(ranges)
  expect(unscoredPrompts(of(prompt, response))).toEqual([])
})

test('unscoredPrompts excludes responses, empty prompts, a lone first token and prompts with trained tokens', () => {
  const { logprobs: __, topLogprobs: ___, ...silent } = response
  const empty = { ...unscored, ids: [] }
  expect(unscoredPrompts(of({ ...unscored, ids: [1] }, silent, empty, { ...unscored, mask: [0, 1, 0] }))).toEqual([])
})

test('isUnscoredAt is true only for tokens of such prompts, and never for the first token', () => {
  const places = ids(twoTurns).flatMap((_id, index) => (isUnscoredAt(twoTurns, index) ? [index] : []))
  expect(places).toEqual([1, 2, 8, 9, 10])
})

test('withPromptLogprobs joins scores in several parts and records who computed them', () => {
  const top = (first: number, logprobs: number[]) => ({
    k: 1,
    ids: [first, first + 1].slice(0, logprobs.length),
    logprobs,
  })
  const after = withPromptLogprobs(
    twoTurns,
    [
      { start: 0, logprobs: [null, -1, -2] },
      { start: 8, logprobs: [-3, -4], topLogprobs: top(5, [-3, -4]) },
      { start: 10, logprobs: [-5], topLogprobs: top(7, [-5]) },
    ],
    scored,
  )
  expect(after.segments).toEqual([
    { ...unscored, logprobs: [null, -1, -2], scored },
    response,
    { ...unscored, logprobs: [-3, -4, -5], topLogprobs: { k: 1, ids: [5, 6, 7], logprobs: [-3, -4, -5] }, scored },
    response,
  ])
  expect(unscoredPrompts(after)).toEqual([])
})

test('withPromptLogprobs ignores alternatives of a part and keeps other prompts unchanged', () => {
  const after = withPromptLogprobs(
    twoTurns,
    [
      { start: 8, logprobs: [-3, -4], topLogprobs: { k: 1, ids: [5, 6], logprobs: [-3, -4] } },
      { start: 10, logprobs: [-5] },
    ],
    scored,
  )
  expect(after.segments[0]).toBe(unscored)
  expect(after.segments[2]).toEqual({ ...unscored, logprobs: [-3, -4, -5], scored })
})
