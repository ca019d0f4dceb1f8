import { expect, test } from 'vitest'
import type { JsonPath } from '#lib/json/json-path.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { pathOfToken, tokensOfPath } from './json-tokens.ts'

const tokens = (...path: JsonPath) => {
  const span = tokensOfPath(sampleTrajectory, path)
  return span && `${span.start}-${span.end}`
}

test('a value of a column leads to its token, a span to its tokens, and any other value of a segment to the segment', () => {
  expect(tokens('segments', 1, 'ids', 2)).toBe('5-6')
  expect(tokens('segments', 1, 'logprobs', 0)).toBe('3-4')
  expect(tokens('segments', 1, 'topLogprobs', 'ids', 5)).toBe('5-6')
  expect(tokens('segments', 3, 'columns', 'entropy', 1)).toBe('11-12')
  expect(tokens('segments', 1, 'thinks', 0, 'start')).toBe('3-6')
  expect(tokens('segments', 1, 'toolCalls', 0, 'name')).toBe('6-7')
  expect(tokens('segments', 1, 'finish')).toBe('3-8')
  expect(tokens('segments', 2)).toBe('8-10')
  expect([tokens(), tokens('vocab', '3'), tokens('segments'), tokens('segments', 9)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a token leads to the path of its id, and the path leads back', () => {
  for (let token = 0; token < 12; token++) {
    const path = pathOfToken(sampleTrajectory, token)
    expect(path && tokensOfPath(sampleTrajectory, path)).toEqual({ start: token, end: token + 1 })
  }
  expect(pathOfToken(sampleTrajectory, 12)).toBeUndefined()
})
