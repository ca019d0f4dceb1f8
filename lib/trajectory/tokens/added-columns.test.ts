import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withColumn } from './added-columns.ts'
import { tokenCount } from './tokens.ts'
import { numberAt } from './trajectory-view.ts'

test('withColumn adds to each segment its part of the column', () => {
  const values = Float64Array.from({ length: tokenCount(sample) }, (_, index) => (index === 4 ? Number.NaN : index))
  const { segments } = withColumn(sample, 'verified', values)
  expect(segments.map(({ columns }) => Object.keys(columns ?? {}))).toEqual([
    ['verified'],
    ['verified'],
    ['verified'],
    ['entropy', 'verified'],
  ])
  expect(segments.map(({ columns }) => numberAt(columns?.verified, 1))).toEqual([1, null, 9, 11])
})

test('A column that is added with its meaning leaves the meanings of other columns unchanged', () => {
  const meanings = { entropy: { quantity: 'entropy', model: 'rollout' } } as const
  const meaning = { quantity: 'logprob', model: 'rollout' } as const
  const values = new Float64Array(tokenCount(sample))
  expect(withColumn({ ...sample, columnMeanings: meanings }, 'verified', values, meaning).columnMeanings).toEqual({
    ...meanings,
    verified: meaning,
  })
})
