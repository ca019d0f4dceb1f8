import { expect, test } from 'vitest'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { source } from '#testing/trajectories.ts'
import { type ForeignContent, foreignTrajectory, isoTime } from './foreign-trajectory.ts'

const response: Segment = { kind: 'response', ids: [2], logprobs: [-1], thinks: [], toolCalls: [] }
const prompt: Segment = { kind: 'prompt', ids: [1], messages: [{ role: 'user', content: 'hi' }] }
const open = (change: Partial<ForeignContent>) =>
  foreignTrajectory(
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
const read = (change: Partial<ForeignContent>) => {
  const { provenance } = open(change)
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

test('A reward of true or false is 1 or 0, and a value that is no number is reported as missing', () => {
  expect([true, false, 0.5].map((reward) => open({ reward }).reward)).toEqual([1, 0, 0.5])
  expect(read({ reward: true })?.lacked).toEqual(read({})?.lacked)
  expect(open({ reward: { score: 1 } })).not.toHaveProperty('reward')
  const lackedOf = (reward: unknown) => read({ reward })?.lacked.at(-1)
  expect([{ score: 1 }, '0.5', [1, 0]].map(lackedOf)).toEqual([
    'reward: expected a number, found an object with score',
    'reward: expected a number, found "0.5"',
    'reward: expected a number, found an array of 2',
  ])
  expect(lackedOf(null)).toBe(lackedOf(undefined))
})
