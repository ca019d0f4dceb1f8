import { expect, test } from 'vitest'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { source } from '#testing/trajectories.ts'
import { type ForeignContent, foreignTrajectory, isoTime } from './foreign-trajectory.ts'

const response: Segment = { kind: 'response', ids: [2], logprobs: [-1], thinks: [], toolCalls: [] }
const prompt: Segment = { kind: 'prompt', ids: [1], messages: [{ role: 'user', content: 'hi' }] }
const read = (change: Partial<ForeignContent>) => {
  const { provenance } = foreignTrajectory(
    {
      format: 'x',
      segments: [prompt, response],
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: undefined,
      lacked: [],
      rest: undefined,
      ...change,
    },
    source,
  )
  return provenance.kind === 'import' ? provenance : undefined
}

test('A file without messages and logprobs lacks them by name, beside the texts of its tokens', () => {
  expect(read({})?.missing).toEqual(['texts', 'logprob_values', 'temperature', 'special_tokens'])
  expect(read({ segments: [{ ...prompt, messages: [] }], missing: ['mask'] })?.missing).toEqual([
    'texts',
    'messages',
    'logprobs',
    'mask',
    'special_tokens',
  ])
})

test('A file that says how its logprobs were computed lacks neither that nor the temperature', () => {
  const logprobs = { quantity: 'logprob', values: 'processed', temperature: 0.5 } as const
  expect(read({ columnMeanings: { logprobs } })?.missing).toEqual(['texts', 'special_tokens'])
})

test('The words for what a file lacks name model and tools only if it has none', () => {
  expect(read({})?.lacked[1]).toBe('model, tools and sampling parameters')
  expect(read({ modelName: 'm' })?.lacked[1]).toBe('tools and sampling parameters')
  expect(read({ modelName: 'm', tools: [] })?.lacked[1]).toBe('sampling parameters')
})

test('isoTime writes seconds as ISO 8601, and nothing for what is no time', () => {
  expect([isoTime(0.5), isoTime(1e300), isoTime('0')]).toEqual(['1970-01-01T00:00:00.500Z', undefined, undefined])
})
