import { expect, test } from 'vitest'
import { whyNotComparable } from './comparable.ts'

const why = (samplingParams: Readonly<Record<string, unknown>>) =>
  whyNotComparable({ request: { samplingParams } as NonNullable<Parameters<typeof whyNotComparable>[0]['request']> })

test('whyNotComparable names only parameters that change sampled logprobs', () => {
  expect(
    why({ top_p: 0.5, top_k: 3, min_p: 0.1, max_new_tokens: 5, repetition_penalty: 1, logit_bias: null }),
  ).toBeUndefined()
  expect(why({})).toBeUndefined()
  expect(why({ temperature: 0 })).toBeUndefined()
  expect(why({ temperature: 0.7 })).toBe('sampled at temperature 0.7')
  expect(why({ presence_penalty: 0.1, regex: 'a' })).toBe('sampled with presence_penalty, regex')
  const read = { samplingParams: {}, read: { kept: 1, ids: [2] } } as never
  expect(whyNotComparable({ request: read })).toBe('sampled after different tokens than the recorded ones')
  expect(whyNotComparable({})).toBe('the file does not contain the sampling parameters')
})
