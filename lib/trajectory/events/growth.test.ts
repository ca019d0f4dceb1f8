import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Trajectory } from '../format/trajectory.ts'
import { unpack } from '../tokens/packed.ts'
import { tokenCount } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import type { LiveTrajectory, RolloutEvent } from './events.ts'
import { createFold } from './fold.ts'
import { createGrowth } from './growth.ts'

const started: RolloutEvent = {
  type: 'started',
  rolloutId: 'r',
  trajectory: { ...sampleTrajectory, outcome: { kind: 'running' } },
}
const opening: RolloutEvent = {
  type: 'segment-started',
  segment: { kind: 'response', ids: [], thinks: [], toolCalls: [] },
  vocab: {},
  specialIds: [],
}
const closing: RolloutEvent = {
  type: 'segment',
  segment: { kind: 'response', thinks: [], toolCalls: [], finish: { kind: 'length' } },
  vocab: { '88': 'closed' },
  specialIds: [],
}

/** Generates tokens with or without logprobs, with 0 to 2 alternatives each. */
const tokens = fc
  .record({ ids: fc.array(fc.constantFrom(3, 4, 77), { maxLength: 400 }), hasLogprobs: fc.boolean(), k: fc.nat(2) })
  .map(
    ({ ids, hasLogprobs, k }): RolloutEvent => ({
      type: 'tokens',
      ids,
      ...(hasLogprobs && { logprobs: ids.map((_, index) => (index % 3 === 0 ? null : -index)) }),
      ...(k > 0 && {
        topLogprobs: {
          k,
          ids: ids.flatMap((id) => Array(k).fill(id)),
          logprobs: ids.flatMap((_, index) => Array(k).fill(index % 2 === 0 ? null : -1)),
        },
      }),
      vocab: ids.includes(77) ? { '77': 'new' } : {},
      specialIds: ids.includes(77) ? [77] : [],
    }),
  )

/** Adds the open segment to the others, because a file has no running state. */
const everything = (view: TrajectoryView | undefined): Trajectory | undefined =>
  view && unpack({ ...view, segments: [...view.segments, ...(view.live?.open ? [view.live.open] : [])] })

function both(events: readonly RolloutEvent[]) {
  const growth = createGrowth()
  const fold = createFold()
  for (const event of events) {
    growth.add(event)
    fold.add(event)
  }
  return { grown: growth.trajectory, folded: fold.trajectory }
}

describe('createGrowth', () => {
  test('returns the trajectory of the events at any time', () => {
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 6 }), fc.nat(6), (list, looks) => {
        const growth = createGrowth()
        const fold = createFold()
        const seen: [TrajectoryView, Trajectory | undefined][] = []
        for (const [index, event] of [started, opening, ...list].entries()) {
          growth.add(event)
          fold.add(event)
          if (index < looks && growth.trajectory) seen.push([growth.trajectory, everything(growth.trajectory)])
        }
        expect(everything(growth.trajectory)).toEqual(everything(fold.trajectory))
        for (const event of [closing, { type: 'ended', outcome: { kind: 'ended', reason: 'length' } } as const]) {
          growth.add(event)
          fold.add(event)
        }
        expect(unpack(growth.trajectory as TrajectoryView)).toEqual(fold.trajectory)
        // Earlier views are unchanged, except for the shared vocabulary.
        for (const [view, then] of seen) expect({ ...everything(view), vocab: {} }).toEqual({ ...then, vocab: {} })
      }),
    )
  })

  test('continues after a turn and removes retracted segments', () => {
    const more: RolloutEvent = { type: 'tokens', ids: [3], vocab: {}, specialIds: [] }
    const { grown, folded } = both([
      started,
      opening,
      more,
      closing,
      { type: 'tool-started', callId: 'call_0001', startedAt: 'now' },
      { type: 'tool-ended', callId: 'call_0001', result: { status: 'success', text: 'yes' } },
      opening,
      more,
      { type: 'retracted' },
      opening,
      more,
    ])
    expect(everything(grown)).toEqual(everything(folded))
    expect(grown?.live?.open?.ids.length).toBe(1)
  })

  test('continues a resumed response, also after a pause without tokens', () => {
    const more: RolloutEvent = {
      type: 'tokens',
      ids: [3, 4],
      logprobs: [-1, null],
      topLogprobs: { k: 1, ids: [3, 4], logprobs: [-1, -2] },
      vocab: {},
      specialIds: [],
    }
    const masked = { ...closing, segment: { ...closing.segment, mask: [1, 0] } } as RolloutEvent
    const request = { server: 's', samplingParams: {}, inputLength: 1, inputHash: '', streamed: true }
    const resumed: RolloutEvent = { type: 'resumed', request }
    const { grown, folded } = both([started, opening, more, closing, resumed, { type: 'retracted' }, resumed, more])
    expect(everything(grown)).toEqual(everything(folded))
    expect(grown?.live?.open?.ids.length).toBe(4)
    const withMask = both([started, opening, more, masked, resumed, more])
    expect(everything(withMask.grown)).toEqual(everything(withMask.folded))
    expect(withMask.folded?.live?.open?.mask).toEqual([1, 0, 1, 1])
  })

  test('learns no special tokens for a file without a tokenizer', () => {
    const { tokenizer: _, ...model } = sampleTrajectory.model
    const { grown, folded } = both([
      { ...started, trajectory: { ...sampleTrajectory, model } },
      opening,
      { type: 'tokens', ids: [99], vocab: { '99': 'x' }, specialIds: [99] },
    ])
    expect(everything(grown)).toEqual(everything(folded))
  })

  test('throws for events that do not fit', () => {
    const growth = createGrowth()
    expect(growth.trajectory).toBeUndefined()
    const lost: RolloutEvent = { type: 'tokens', ids: [1], vocab: {}, specialIds: [] }
    expect(() => growth.add(lost)).toThrow('no response was open')
    expect(() => growth.add(opening)).toThrow('the first event')
    growth.add(started)
    expect(() => growth.add(lost)).toThrow('no response was open')
  })

  test('adds an event in time independent of the number of earlier tokens', () => {
    const step: RolloutEvent = {
      type: 'tokens',
      ids: [3, 4, 7],
      logprobs: [-1, -2, -3],
      topLogprobs: { k: 2, ids: [3, 4, 4, 7, 7, 3], logprobs: [-1, -2, -1, -2, -1, -2] },
      vocab: {},
      specialIds: [],
    }
    const costOf = (there: number): number => {
      const growth = createGrowth()
      for (const event of [started, opening]) growth.add(event)
      while (tokenCount(growth.trajectory as LiveTrajectory) < there) for (let n = 0; n < 500; n++) growth.add(step)
      const rounds = Array.from({ length: 9 }, () => {
        const before = performance.now()
        for (let n = 0; n < 400; n++) {
          growth.add(step)
          growth.trajectory
        }
        return performance.now() - before
      })
      return Math.min(...rounds)
    }
    costOf(1_000)
    expect(costOf(300_000) / costOf(1_000)).toBeLessThan(20)
  })
})
