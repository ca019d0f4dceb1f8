import { expect, test } from 'vitest'
import { groupLineReader, groupLineSchema } from '#lib/api/group-line.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { eventReader } from './event-reader.ts'
import { rolloutEventSchema } from './event-schema.ts'

const { events } = simulateRollout(chatml, [
  { messages: [{ role: 'user', content: 'q' }], reply: [65, 66, 67], finish: { kind: 'stop' } },
])

test('The reader of events takes each event of a rollout, without a copy of its columns', () => {
  for (const event of events) {
    const read = eventReader.safeParse(event)
    expect(read).toEqual({ success: true, data: event })
    expect(read.success && read.data).toBe(event)
  }
})

const tokens = { type: 'tokens', ids: [1], vocab: {}, specialIds: [] }
const broken: readonly (readonly [string, unknown])[] = [
  ['text', 'text'],
  ['null', null],
  ['an unknown type', { type: 'other' }],
  ['an id below zero', { ...tokens, ids: [1, -1] }],
  ['an id that is text', { ...tokens, ids: [1, '2'] }],
  ['a logprob that is text', { ...tokens, logprobs: ['0'] }],
  ['alternatives without their number', { ...tokens, topLogprobs: { ids: [1], logprobs: [0] } }],
  ['a segment that is none', { type: 'segment-started', segment: 1, vocab: {}, specialIds: [] }],
  [
    'a prompt with a broken id',
    { type: 'segment-started', segment: { kind: 'prompt', ids: [0.5] }, vocab: {}, specialIds: [] },
  ],
  ['a start without a trajectory', { type: 'started', rolloutId: 'r' }],
  ['a start with a trajectory of no segments', { type: 'started', rolloutId: 'r', trajectory: { segments: 1 } }],
]

test.each(broken)('The reader of events refuses %s with the words of the schema', (_, event) => {
  const read = eventReader.safeParse(event)
  expect(read.success).toBe(false)
  expect(!read.success && read.error.issues).toEqual(rolloutEventSchema.safeParse(event).error?.issues)
})

test('The reader of a group takes the events of its samples, and refuses other lines with the words of the schema', () => {
  for (const event of events) {
    const line = { sample: 0, event }
    expect(groupLineReader.safeParse(line)).toEqual({ success: true, data: line })
  }
  for (const line of [null, { sample: -1, event: tokens }, ...broken.map(([, event]) => ({ sample: 0, event }))]) {
    const read = groupLineReader.safeParse(line)
    expect(!read.success && read.error.issues).toEqual(groupLineSchema.safeParse(line).error?.issues)
  }
})
