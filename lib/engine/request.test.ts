import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostReplyBytes } from './request.ts'

const MEBIBYTE = 1 << 20
const request = { inputIds: [1, 2, 3], sampling: { max_new_tokens: 100 }, topLogprobsNum: 5 }

test('A reply to a small request may have little more than 16 MiB', () => {
  expect(mostReplyBytes(request)).toBeGreaterThan(16 * MEBIBYTE)
  expect(mostReplyBytes(request)).toBeLessThan(17 * MEBIBYTE)
})

test.each([
  ['the number of tokens', { sampling: {} }],
  ['routed experts', { routedExpertsStart: 0 }],
  ['images', { images: { urls: [], counts: [], placeholder: 1 } as never }],
  ['a parameter that Rollscope does not know', { sampling: { max_new_tokens: 100, some_parameter: 1 } as never }],
])('A reply has no limit of its own without a limit of %s', (_, changed) => {
  expect(mostReplyBytes({ ...request, ...changed })).toBeUndefined()
})

test('The logprobs of a prompt count, with or without a reply', () => {
  const most = (changed: object) => mostReplyBytes({ ...request, inputIds: Array(100_000).fill(1), ...changed }) ?? 0
  expect(most({ logprobStartLen: 0 }) - most({})).toBe(100_000 * 7 * 256)
  expect(most({ logprobStartLen: 0, scoreOnly: true, sampling: {} })).toBeGreaterThan(100_000 * 7 * 256)
})

test('Replies of both forms stay below the limit, with the longest logprobs, ids and texts of 100 characters', () => {
  const alternative = { logprob: -12.345678901234567, rank: 131_072, decoded_token: 'x'.repeat(100) }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), fc.nat(20), fc.nat(300), (written, k, scored) => {
      const tokens = written + scored
      const row = Array.from({ length: k }, () => [-12.345678901234567, 1_000_000, null])
      const native = {
        meta_info: {
          output_token_logprobs: Array(tokens).fill(row[0] ?? [-12.345678901234567, 1_000_000, null]),
          output_top_logprobs: Array(tokens).fill(row),
        },
      }
      const named = Object.fromEntries(
        Array.from({ length: k + 1 }, (_, index) => [`token_id:${1_000_000 + index}`, alternative]),
      )
      const most = mostReplyBytes({
        inputIds: Array(scored).fill(1),
        sampling: { max_new_tokens: written },
        logprobStartLen: 0,
        topLogprobsNum: k,
      })
      // The rest of a reply has its own share.
      const forLogprobs = (most ?? 0) - 16 * MEBIBYTE
      expect(JSON.stringify(native).length).toBeLessThan(forLogprobs + 1000)
      expect(JSON.stringify(Array(tokens).fill(named)).length).toBeLessThan(forLogprobs + 1000)
    }),
    { numRuns: 30 },
  )
})
