import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { lossMask } from '../tokens/tokens.ts'
import { withAdvantages } from './advantage-column.ts'
import { type GroupRewards, groupRewards } from './group-rewards.ts'

const rewards = groupRewards([1, 0]) as GroupRewards

test('Each trained token of a sample gets its advantage, and all others none', () => {
  const added = withAdvantages(sample, 1, rewards, 'mean')
  expect(added?.columnMeanings?.advantage).toEqual({ quantity: 'advantage', source: 'Rollscope, mean' })
  expect(added?.segments.flatMap(({ columns }) => columns?.advantage)).toEqual(
    lossMask(sample).map((bit) => (bit === 1 ? 0.5 : null)),
  )
  expect(added?.segments.at(-1)?.columns?.entropy).toEqual(sample.segments.at(-1)?.columns?.entropy)
})

test('With a formula by length, the advantages of a sample add up to that of the whole sample', () => {
  const values = withAdvantages(sample, 0, rewards, 'mean-by-length')?.segments.flatMap(
    ({ columns }) => columns?.advantage ?? [],
  )
  expect(values?.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeCloseTo(-0.5, 12)
})

test('Advantages of a file are replaced under their name', () => {
  const [first, ...others] = sample.segments
  if (!first) throw new Error('the sample has segments')
  const own = { ...sample, segments: [{ ...first, columns: { advantages: first.ids.map(() => 9) } }, ...others] }
  const added = withAdvantages(own, 1, rewards, 'mean')
  expect(added?.segments[0]?.columns).toEqual({ advantages: first.ids.map(() => null) })
  expect(added?.segments[1]?.columns?.advantages).toContain(0.5)
})

test('A sample without a reward has no advantages', () => {
  expect(withAdvantages(sample, null, rewards, 'mean')).toBeUndefined()
})
