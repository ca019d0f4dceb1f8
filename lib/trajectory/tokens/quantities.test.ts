import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { hasQuantity, quantityNamed, TOKEN_QUANTITIES } from './quantities.ts'

const columnMeanings = { entropy: { quantity: 'entropy', model: 'rollout' } } as const

test('Entropy is exact if every response has the column, otherwise it is computed from the alternatives', () => {
  const isResponse = ({ kind }: { readonly kind: string }) => kind === 'response'
  const responses = sample.segments.filter(isResponse)
  const withEntropy = responses.map((segment) => ({ ...segment, columns: { entropy: segment.ids.map(() => 1) } }))
  expect(quantityNamed('entropy', { segments: withEntropy, columnMeanings }).isApproximate).toBe(false)
  const withOne = [...withEntropy.slice(0, 1), ...responses.map(({ columns: _, ...segment }) => segment)]
  expect(quantityNamed('entropy', { segments: withOne, columnMeanings })).toBe(TOKEN_QUANTITIES.entropy)
})

test('Entropies of the reference model are not those of the model that sampled the tokens', () => {
  const segments = sample.segments.map((segment) => ({ ...segment, columns: { h: segment.ids.map(() => 9) } }))
  const meanings = (model: 'trainer' | 'reference') => ({ h: { quantity: 'entropy', model } }) as const
  expect(quantityNamed('entropy', { segments, columnMeanings: meanings('trainer') }).isApproximate).toBe(false)
  expect(quantityNamed('entropy', { segments, columnMeanings: meanings('reference') })).toBe(TOKEN_QUANTITIES.entropy)
})

test('A quantity of alternatives exists if a segment has alternatives', () => {
  const plain = sample.segments.map(({ topLogprobs: _, columns: __, ...segment }) => segment)
  expect(hasQuantity(TOKEN_QUANTITIES.entropy, sample)).toBe(true)
  expect(hasQuantity(TOKEN_QUANTITIES.entropy, { ...sample, segments: plain })).toBe(false)
})
