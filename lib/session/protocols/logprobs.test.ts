import { expect, test } from 'vitest'
import { logprobEntries } from './logprobs.ts'

test('The text of a token has all of its characters, also a byte order mark', () => {
  const bytes = (id: number) => new TextEncoder().encode(['\uFEFF', 'a'][id] ?? '')
  expect(logprobEntries({ ids: [0, 1], logprobs: [-1, null] }, 0, bytes)).toEqual([
    { token: '\uFEFF', logprob: -1, bytes: [0xef, 0xbb, 0xbf], top_logprobs: [] },
    { token: 'a', logprob: -9999, bytes: [0x61], top_logprobs: [] },
  ])
})
