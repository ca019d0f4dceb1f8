import { expect, test } from 'vitest'
import type { ResponseSegment } from '../format/trajectory.ts'
import { isCutBelowLimit } from './token-limit.ts'

const request: NonNullable<ResponseSegment['request']> = {
  server: 'default',
  samplingParams: {},
  inputLength: 1,
  inputHash: '',
  streamed: false,
}

test('isCutBelowLimit is true only for the finish reason length before the limit of the last call', () => {
  const cut = (samplingParams: Readonly<Record<string, unknown>>, change: Partial<ResponseSegment> = {}) =>
    isCutBelowLimit({
      kind: 'response',
      ids: [2, 3, 4],
      thinks: [],
      toolCalls: [],
      finish: { kind: 'length' },
      request: { ...request, samplingParams },
      ...change,
    })
  expect([3, 4].map((max_new_tokens) => cut({ max_new_tokens }))).toEqual([false, true])
  expect(cut({ max_new_tokens: 4 }, { finish: { kind: 'cancelled' } })).toBe(false)
  expect([{}, { max_new_tokens: '4' }, { max_new_tokens: -1 }].map((params) => cut(params))).toEqual([
    false,
    false,
    false,
  ])
  const second = { ...request, samplingParams: { max_new_tokens: 1 } }
  expect(cut({ max_new_tokens: 9 }, { resumed: [{ at: 2, request: second }] })).toBe(false)
  const chat = { ...request, endpoint: 'chat', samplingParams: { max_completion_tokens: 4 } } as const
  expect(cut({}, { request: chat })).toBe(true)
})
