import { expect, test } from 'vitest'
import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Outcome, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import {
  applyToProgress,
  meanLogprob,
  outcomeWord,
  progressOf,
  type SampleProgress,
  WAITING,
} from './sample-progress.ts'

const none = { vocab: {}, specialIds: [] }
const prompt: Segment = { kind: 'prompt', ids: [1, 2, 3], messages: [] }
const response: Segment = { kind: 'response', ids: [], thinks: [], toolCalls: [] }
const empty: Trajectory = { ...sampleTrajectory, segments: [], outcome: { kind: 'running' } }
const events: readonly RolloutEvent[] = [
  { type: 'started', rolloutId: 'r', trajectory: empty },
  { type: 'segment-started', segment: prompt, ...none },
  { type: 'retracted' },
  { type: 'segment-started', segment: prompt, ...none },
  { type: 'segment', segment: { kind: 'prompt' }, ...none },
  { type: 'segment-started', segment: response, ...none },
  { type: 'tokens', ids: [4, 5], logprobs: [-1, null], ...none },
  { type: 'tokens', ids: [6], logprobs: [-3], ...none },
  { type: 'tokens', ids: [7], ...none },
  { type: 'segment', segment: { kind: 'response', thinks: [], toolCalls: [] }, ...none },
  { type: 'tool-started', callId: 'c', startedAt: 'now' },
  { type: 'tool-ended', callId: 'c', result: { status: 'success', text: '' } },
  { type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } },
]

test('sample progress equals the statistics of the trajectory after each event', () => {
  let live: LiveTrajectory | undefined
  let progress: SampleProgress = WAITING
  const states: string[] = []
  for (const event of events) {
    live = applyEvent(live, event)
    progress = applyToProgress(progress, event)
    states.push(progress.state)
    const { tokens, meanLogprob: mean } = statistics(live)
    expect([progress.tokens, meanLogprob(progress)]).toEqual([tokens, mean])
  }
  expect(states).toEqual(
    'waiting reading waiting reading reading writing writing writing writing writing calling calling ended'.split(' '),
  )
  expect(progress).toMatchObject({ outcome: 'end_turn', outcomeKind: 'ended', turns: 1, tokens: 7 })
})

test('the progress of a stored sample equals its row', () => {
  const row = {
    tokens: 7,
    turns: 1,
    trained: 2,
    meanLogprob: -2,
    outcome: 'end_turn',
    outcomeKind: 'ended',
  } as Parameters<typeof progressOf>[0]
  expect(meanLogprob(progressOf(row))).toBe(-2)
  expect(progressOf(row)).toMatchObject({ state: 'ended', tokens: 7 })
  const begun = progressOf({ ...row, meanLogprob: null, outcome: 'running', outcomeKind: 'running' })
  expect([begun.state, meanLogprob(begun)]).toEqual(['waiting', null])
})

test.each<[Outcome, string]>([
  [{ kind: 'running' }, 'running'],
  [{ kind: 'ended', reason: 'length' }, 'length'],
  [{ kind: 'failed', code: 'UPSTREAM_BUSY', message: 'm' }, 'UPSTREAM_BUSY'],
])('outcomeWord returns one word for the outcome %o', (outcome, word) => expect(outcomeWord(outcome)).toBe(word))
